/* What libpq in C takes for the statements of a store: the floor beside which a store is measured.
   Usage: floor CONNECTION WORKLOAD REPETITIONS. Prints the median in microseconds. */
#include <arpa/inet.h>
#include <endian.h>
#include <libpq-fe.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { NEW_ROWS = 10000, CHANGES = 1000, BOOKS = 100000, AUTHORS = 1000 };

static PGconn *connection;
static double sum;

static void fail(const char *what) {
    fprintf(stderr, "%s: %s", what, PQerrorMessage(connection));
    exit(1);
}

static PGresult *checked(PGresult *result) {
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK && status != PGRES_COPY_IN) fail("a statement failed");
    return result;
}

static void run(const char *sql) { PQclear(checked(PQexec(connection, sql))); }

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e6 + time.tv_nsec / 1e3;
}

/* Binary values in one buffer that grows. */
typedef struct {
    char *bytes;
    size_t count, room;
} Buffer;

static void put(Buffer *buffer, const void *bytes, size_t count) {
    if (buffer->count + count > buffer->room) {
        buffer->room = (buffer->count + count) * 2;
        buffer->bytes = realloc(buffer->bytes, buffer->room);
        if (!buffer->bytes) exit(1);
    }
    memcpy(buffer->bytes + buffer->count, bytes, count);
    buffer->count += count;
}

static void put16(Buffer *buffer, int16_t value) { uint16_t bits = htobe16((uint16_t)value); put(buffer, &bits, 2); }
static void put32(Buffer *buffer, int32_t value) { uint32_t bits = htobe32((uint32_t)value); put(buffer, &bits, 4); }
static void put64(Buffer *buffer, int64_t value) { uint64_t bits = htobe64((uint64_t)value); put(buffer, &bits, 8); }
static void put_long(Buffer *buffer, int64_t value) { put32(buffer, 8); put64(buffer, value); }
static void put_int(Buffer *buffer, int32_t value) { put32(buffer, 4); put32(buffer, value); }
static void put_short(Buffer *buffer, int16_t value) { put32(buffer, 2); put16(buffer, value); }
static void put_double(Buffer *buffer, double value) { int64_t bits; memcpy(&bits, &value, 8); put_long(buffer, bits); }

static void put_title(Buffer *buffer, int64_t number) {
    char text[64];
    int length = snprintf(text, sizeof text, "Title of the book %lld", (long long)number);
    put32(buffer, length);
    put(buffer, text, (size_t)length);
}

static void put_array_head(Buffer *buffer, int32_t type, int32_t count) {
    put32(buffer, 1);
    put32(buffer, 0);
    put32(buffer, type);
    put32(buffer, count);
    put32(buffer, 1);
}

static int64_t long_at(PGresult *result, int row, int column) {
    int64_t bits;
    memcpy(&bits, PQgetvalue(result, row, column), 8);
    return (int64_t)be64toh((uint64_t)bits);
}

static double double_at(PGresult *result, int row, int column) {
    int64_t bits = long_at(result, row, column);
    double value;
    memcpy(&value, &bits, 8);
    return value;
}

static PGresult *prepared(const char *name, int count, Buffer *values) {
    const char *pointers[8];
    int lengths[8], formats[8];
    for (int index = 0; index < count; index++) {
        pointers[index] = values[index].bytes;
        lengths[index] = (int)values[index].count;
        formats[index] = 1;
    }
    return checked(PQexecPrepared(connection, name, count, pointers, lengths, formats, 1));
}

static PGresult *books(const char *name, int64_t first) {
    static Buffer value;
    value.count = 0;
    put64(&value, first);
    return prepared(name, 1, &value);
}

/* Reads two attributes of each row. */
static void read_books(PGresult *result) {
    for (int row = 0; row < PQntuples(result); row++) sum += PQgetlength(result, row, 3) + double_at(result, row, 5);
}

static void point(int round) {
    (void)round;
    PGresult *result = books("point", rand() % BOOKS);
    read_books(result);
    PQclear(result);
}

static void range(int round) {
    (void)round;
    PGresult *result = books("range", rand() % (BOOKS - 100));
    read_books(result);
    PQclear(result);
}

/* The rows, then the authors that they name. */
static void references(int round) {
    (void)round;
    PGresult *result = books("range", rand() % (BOOKS - 100));
    static Buffer ids;
    ids.count = 0;
    put_array_head(&ids, 20, PQntuples(result));
    for (int row = 0; row < PQntuples(result); row++) put_long(&ids, long_at(result, row, 7));
    read_books(result);
    PQclear(result);
    result = prepared("authors", 1, &ids);
    for (int row = 0; row < PQntuples(result); row++) sum += PQgetlength(result, row, 3);
    PQclear(result);
}

static void copy_rows(const char *sql, int round) {
    static Buffer rows;
    rows.count = 0;
    put(&rows, "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0", 19);
    for (int index = 0; index < NEW_ROWS; index++) {
        int64_t number = (int64_t)round * NEW_ROWS + index;
        put16(&rows, 8);
        put_long(&rows, number);
        put_short(&rows, 2);
        put_int(&rows, 1);
        put_title(&rows, number);
        put_long(&rows, number);
        put_double(&rows, number * 0.01);
        put_double(&rows, number * 1000.0);
        put_long(&rows, number % AUTHORS);
    }
    put16(&rows, -1);
    run("BEGIN");
    run(sql);
    if (PQputCopyData(connection, rows.bytes, (int)rows.count) != 1 || PQputCopyEnd(connection, NULL) != 1) fail("COPY");
    for (PGresult *result; (result = PQgetResult(connection));) PQclear(checked(result));
    run("COMMIT");
}

static void copy(int round) { copy_rows("COPY fresh FROM STDIN (FORMAT binary)", round); }
static void copy_unique(int round) { copy_rows("COPY fresh_unique FROM STDIN (FORMAT binary)", round); }

static void unnest(int round) {
    static Buffer columns[8];
    static const int32_t types[8] = {20, 21, 23, 25, 20, 701, 701, 20};
    for (int column = 0; column < 8; column++) {
        columns[column].count = 0;
        put_array_head(&columns[column], types[column], NEW_ROWS);
    }
    for (int index = 0; index < NEW_ROWS; index++) {
        int64_t number = (int64_t)round * NEW_ROWS + index;
        put_long(&columns[0], number);
        put_short(&columns[1], 2);
        put_int(&columns[2], 1);
        put_title(&columns[3], number);
        put_long(&columns[4], number);
        put_double(&columns[5], number * 0.01);
        put_double(&columns[6], number * 1000.0);
        put_long(&columns[7], number % AUTHORS);
    }
    run("BEGIN");
    PQclear(prepared("unnest", 8, columns));
    run("COMMIT");
}

/* Reads a thousand rows, changes them where their versions are the read ones, and commits. */
static void change(int round) {
    PGresult *result = books("thousand", (int64_t)(round % (BOOKS / CHANGES)) * CHANGES);
    static Buffer columns[3];
    static const int32_t types[3] = {20, 23, 701};
    for (int column = 0; column < 3; column++) {
        columns[column].count = 0;
        put_array_head(&columns[column], types[column], PQntuples(result));
    }
    for (int row = 0; row < PQntuples(result); row++) {
        int32_t version;
        memcpy(&version, PQgetvalue(result, row, 2), 4);
        put_long(&columns[0], long_at(result, row, 0));
        put_int(&columns[1], (int32_t)be32toh((uint32_t)version));
        put_double(&columns[2], double_at(result, row, 5) + 1);
    }
    PQclear(result);
    run("BEGIN");
    result = prepared("update", 3, columns);
    if (PQntuples(result) != CHANGES) fail("the update missed rows");
    PQclear(result);
    run("COMMIT");
}

static void prepare(const char *name, const char *sql) { PQclear(checked(PQprepare(connection, name, sql, 0, NULL))); }

static void prepare_all(void) {
    prepare("point", "SELECT id, e, v, title, isbn, price, published, author FROM book WHERE isbn = $1");
    prepare("range", "SELECT id, e, v, title, isbn, price, published, author FROM book WHERE isbn >= $1 AND isbn < $1 + 100 "
                     "ORDER BY isbn NULLS FIRST, id");
    prepare("thousand", "SELECT id, e, v, title, isbn, price, published, author FROM book WHERE isbn >= $1 AND isbn < $1 + 1000 "
                        "ORDER BY isbn NULLS FIRST, id");
    prepare("authors", "SELECT id, e, v, name FROM author WHERE id = ANY ($1::bigint[])");
    prepare("unnest", "INSERT INTO fresh SELECT * FROM unnest($1::bigint[], $2::smallint[], $3::integer[], $4::text[], $5::bigint[], "
                      "$6::double precision[], $7::double precision[], $8::bigint[])");
    prepare("update", "UPDATE book AS t SET v = t.v + 1, price = u.price FROM unnest($1::bigint[], $2::integer[], $3::double precision[]) "
                      "AS u (id, v, price) WHERE t.id = u.id AND t.v = u.v RETURNING t.id");
}

static const struct {
    const char *name;
    void (*body)(int round);
} workloads[] = {
    {"point", point}, {"range", range}, {"references", references}, {"copy", copy}, {"copy-unique", copy_unique}, {"unnest", unnest},
    {"change", change},
};

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int count, char **arguments) {
    if (count != 4) return 2;
    int repetitions = atoi(arguments[3]), warm = repetitions / 10 + 1;
    double *times = calloc((size_t)repetitions, sizeof *times);
    connection = PQconnectdb(arguments[1]);
    if (!times || repetitions < 1 || PQstatus(connection) != CONNECTION_OK) fail("no connection");
    run("SET client_min_messages = warning");
    run("TRUNCATE fresh, fresh_unique");
    prepare_all();
    for (size_t index = 0; index < sizeof workloads / sizeof *workloads; index++) {
        if (strcmp(arguments[2], workloads[index].name)) continue;
        for (int round = -warm; round < repetitions; round++) {
            double begun = now();
            workloads[index].body(round + warm);
            if (round >= 0) times[round] = now() - begun;
        }
        qsort(times, (size_t)repetitions, sizeof *times, by_size);
        printf("%.1f\n", times[repetitions / 2]);
        fprintf(stderr, "%s: sum %.2f\n", arguments[2], sum);
        PQfinish(connection);
        return 0;
    }
    return 2;
}
