-- One change of one object: the transaction of a save, for pgbench.
\set id random(0, 99999)
\set price random(1, 1000)
BEGIN;
UPDATE book AS t SET v = t.v + 1, price = u.price FROM unnest(ARRAY[:id]::bigint[], ARRAY[:price]::double precision[]) AS u (id, price)
WHERE t.id = u.id RETURNING t.id;
COMMIT;
