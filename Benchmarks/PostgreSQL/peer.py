"""What SQLAlchemy's objects take for the work of a store. Usage: peer.py URL WORKLOAD REPETITIONS. Prints the median in microseconds;
for `threads` the saves a second."""
import random
import statistics
import sys
import threading
import time

from sqlalchemy import BigInteger, Double, ForeignKey, Integer, SmallInteger, Text, create_engine, select, text
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship, selectinload

NEW_ROWS, CHANGES, BOOKS, AUTHORS = 10_000, 1_000, 100_000, 1_000


class Base(DeclarativeBase):
    pass


class Author(Base):
    __tablename__ = "author"
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    e: Mapped[int] = mapped_column(SmallInteger)
    v: Mapped[int] = mapped_column(Integer)
    name: Mapped[str | None] = mapped_column(Text)


class BookColumns:
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    e: Mapped[int] = mapped_column(SmallInteger)
    title: Mapped[str | None] = mapped_column(Text)
    isbn: Mapped[int | None] = mapped_column(BigInteger)
    price: Mapped[float | None] = mapped_column(Double)
    published: Mapped[float | None] = mapped_column(Double)


class Book(BookColumns, Base):
    __tablename__ = "book"
    # Its versions are optimistic, as the store's are.
    v: Mapped[int] = mapped_column(Integer)
    __mapper_args__ = {"version_id_col": v}
    author_id: Mapped[int | None] = mapped_column("author", BigInteger, ForeignKey("author.id"))
    author: Mapped[Author | None] = relationship()


class Fresh(BookColumns, Base):
    __tablename__ = "fresh"
    v: Mapped[int] = mapped_column(Integer)
    author_id: Mapped[int | None] = mapped_column("author", BigInteger)


class FreshUnique(BookColumns, Base):
    __tablename__ = "fresh_unique"
    v: Mapped[int] = mapped_column(Integer)
    author_id: Mapped[int | None] = mapped_column("author", BigInteger)


engine = create_engine(sys.argv[1], pool_size=16)


def books(session, first, count, *options):
    query = select(Book).where(Book.isbn >= first, Book.isbn < first + count).order_by(Book.isbn.nulls_first(), Book.id)
    return session.scalars(query.options(*options)).all()


def point(_):
    with Session(engine) as session:
        book = session.scalars(select(Book).where(Book.isbn == random.randrange(BOOKS))).one()
        return len(book.title) + book.price


def range_of_100(_):
    with Session(engine) as session:
        return sum(len(book.title) + book.price for book in books(session, random.randrange(BOOKS - 100), 100))


def references(_):
    with Session(engine) as session:
        return sum(len(book.author.name) for book in books(session, random.randrange(BOOKS - 100), 100))


def references_prefetched(_):
    with Session(engine) as session:
        found = books(session, random.randrange(BOOKS - 100), 100, selectinload(Book.author))
        return sum(len(book.author.name) for book in found)


def insert(kind, number):
    with Session(engine) as session:
        for index in range(number * NEW_ROWS, (number + 1) * NEW_ROWS):
            session.add(kind(id=index, e=2, v=1, title=f"Title of the book {index}", isbn=index, price=index * 0.01,
                             published=index * 1000.0, author_id=index % AUTHORS))
        session.commit()


def change(number):
    with Session(engine) as session:
        for book in books(session, number % (BOOKS // CHANGES) * CHANGES, CHANGES):
            book.price += 1
        session.commit()


def threads(seconds):
    """Saves a second of 16 threads, one change each."""
    end, saves = time.perf_counter() + seconds, []

    def work():
        own = 0
        with Session(engine) as session:
            while time.perf_counter() < end:
                book = session.get(Book, random.randrange(BOOKS), populate_existing=True)
                book.price = random.random()
                try:
                    session.commit()
                    own += 1
                except Exception:
                    session.rollback()
        saves.append(own)

    workers = [threading.Thread(target=work) for _ in range(16)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return sum(saves) / seconds


WORKLOADS = {
    "point": point, "range": range_of_100, "references": references, "references-prefetched": references_prefetched, "change": change,
    "insert": lambda number: insert(Fresh, number), "insert-unique": lambda number: insert(FreshUnique, number),
}


def main():
    name, repetitions = sys.argv[2], int(sys.argv[3])
    with engine.begin() as connection:
        connection.execute(text("TRUNCATE fresh, fresh_unique"))
    if name == "threads":
        print(f"{threads(repetitions):.0f}")
        return
    body, times, warm = WORKLOADS[name], [], repetitions // 10 + 1
    for number in range(warm + repetitions):
        begun = time.perf_counter()
        body(number)
        times.append((time.perf_counter() - begun) * 1e6)
    print(f"{statistics.median(times[warm:]):.1f}")


main()
