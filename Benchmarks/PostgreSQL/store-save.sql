-- One change of one object of the store, by the statements and in the round trips of its save: for pgbench.
\set id random(1, 100000)
\set version random(2, 1000000)
\set price random(1, 1000)
\startpipeline
BEGIN;
SELECT pg_current_xact_id(), (SELECT mark FROM bench.heartwood_crash_mark) WHERE (true OR EXISTS (SELECT 1 FROM bench.heartwood_version_1));
SELECT _id, _e, _v FROM bench."Book" WHERE _id = :id ORDER BY _id FOR NO KEY UPDATE;
\endpipeline
\startpipeline
UPDATE bench."Book" SET _v = :version, price = :price WHERE _id = :id;
COMMIT;
\endpipeline
