-- The tables that the store makes of two entities, with what the floors and the peer use of them. 100,000 books of 1,000 authors.
CREATE TABLE author (id bigint PRIMARY KEY, e smallint NOT NULL, v integer NOT NULL, name text COLLATE "C");
CREATE TABLE book (
    id bigint PRIMARY KEY, e smallint NOT NULL, v integer NOT NULL, title text COLLATE "C", isbn bigint, price double precision,
    published double precision, author bigint REFERENCES author DEFERRABLE INITIALLY DEFERRED
);
INSERT INTO author SELECT g, 1, 1, 'Author ' || g FROM generate_series(0, 999) AS g;
INSERT INTO book SELECT g, 2, 1, 'Title of the book ' || g, g, g * 0.01, g * 1000.0, g % 1000 FROM generate_series(0, 99999) AS g;
CREATE INDEX book_isbn ON book (isbn NULLS FIRST, id);
CREATE INDEX book_author ON book (author NULLS FIRST, id);
-- For new rows: as book, empty; and the same with a unique constraint.
CREATE TABLE fresh (LIKE book);
ALTER TABLE fresh ADD PRIMARY KEY (id);
CREATE INDEX fresh_isbn ON fresh (isbn NULLS FIRST, id);
CREATE INDEX fresh_author ON fresh (author NULLS FIRST, id);
CREATE TABLE fresh_unique (LIKE book);
ALTER TABLE fresh_unique ADD PRIMARY KEY (id), ADD UNIQUE (isbn);
CREATE INDEX fresh_unique_author ON fresh_unique (author NULLS FIRST, id);
VACUUM ANALYZE;
