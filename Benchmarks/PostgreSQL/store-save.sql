-- One change of one object, by the statements and in the round trips of a store's save: for pgbench.
\set id random(0, 99999)
\set price random(1, 1000)
\startpipeline
BEGIN;
SELECT id, e, v FROM book WHERE id = :id ORDER BY id FOR NO KEY UPDATE;
\endpipeline
\startpipeline
UPDATE book AS t SET v = u.v, price = u.price FROM unnest(ARRAY[:id]::bigint[], ARRAY[2]::integer[], ARRAY[:price]::double precision[])
AS u (id, v, price) WHERE t.id = u.id;
COMMIT;
\endpipeline
