/* A network that takes its time: passes bytes between two sockets of this machine, each DELAY microseconds late in each direction.
   Bytes that come meanwhile are not held up by those before them. Usage: proxy LISTENING-PATH SERVER-PATH DELAY. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

typedef struct Piece {
    struct Piece *next;
    double due;
    ssize_t count;
    char bytes[];
} Piece;

typedef struct {
    int from, to;
    pthread_mutex_t lock;
    pthread_cond_t more;
    Piece *first, **last;
} Lane;

static double delay;
enum { PIECE_BYTES = 1 << 16 };

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e6 + time.tv_nsec / 1e3;
}

/* A piece of no bytes is the end. */
static void *read_lane(void *argument) {
    Lane *lane = argument;
    for (;;) {
        Piece *piece = malloc(sizeof *piece + PIECE_BYTES);
        if (!piece) exit(1);
        piece->count = read(lane->from, piece->bytes, PIECE_BYTES);
        piece->due = now() + delay;
        piece->next = NULL;
        int ends = piece->count <= 0;
        pthread_mutex_lock(&lane->lock);
        *lane->last = piece;
        lane->last = &piece->next;
        pthread_cond_signal(&lane->more);
        pthread_mutex_unlock(&lane->lock);
        if (ends) return NULL;
    }
}

static int send_all(int socket, const char *bytes, ssize_t count) {
    while (count > 0) {
        ssize_t sent = send(socket, bytes, (size_t)count, MSG_NOSIGNAL);
        if (sent <= 0) return 0;
        bytes += sent;
        count -= sent;
    }
    return 1;
}

static void *write_lane(void *argument) {
    Lane *lane = argument;
    /* Without this the system ends a sleep up to 50 microseconds late. */
    prctl(PR_SET_TIMERSLACK, 1000);
    for (;;) {
        pthread_mutex_lock(&lane->lock);
        while (!lane->first) pthread_cond_wait(&lane->more, &lane->lock);
        Piece *piece = lane->first;
        lane->first = piece->next;
        if (!lane->first) lane->last = &lane->first;
        pthread_mutex_unlock(&lane->lock);
        double rest = piece->due - now();
        if (rest > 0) nanosleep(&(struct timespec){(time_t)(rest / 1e6), (long)((int64_t)(rest * 1e3) % 1000000000)}, NULL);
        int goes_on = piece->count > 0 && send_all(lane->to, piece->bytes, piece->count);
        free(piece);
        if (!goes_on) break;
    }
    shutdown(lane->to, SHUT_RDWR);
    shutdown(lane->from, SHUT_RDWR);
    return NULL;
}

static void begin(int from, int to) {
    Lane *lane = calloc(1, sizeof *lane);
    if (!lane) exit(1);
    lane->from = from;
    lane->to = to;
    lane->last = &lane->first;
    pthread_mutex_init(&lane->lock, NULL);
    pthread_cond_init(&lane->more, NULL);
    pthread_t thread;
    if (pthread_create(&thread, NULL, read_lane, lane) || pthread_create(&thread, NULL, write_lane, lane)) exit(1);
}

static struct sockaddr_un address(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    return address;
}

int main(int count, char **arguments) {
    if (count != 4) return 2;
    delay = atof(arguments[3]);
    struct sockaddr_un own = address(arguments[1]), server = address(arguments[2]);
    int listening = socket(AF_UNIX, SOCK_STREAM, 0);
    if (bind(listening, (struct sockaddr *)&own, sizeof own) || listen(listening, 64)) {
        perror(arguments[1]);
        return 1;
    }
    for (;;) {
        int client = accept(listening, NULL, NULL), other = socket(AF_UNIX, SOCK_STREAM, 0);
        if (client < 0) continue;
        if (connect(other, (struct sockaddr *)&server, sizeof server)) {
            close(client);
            close(other);
            continue;
        }
        begin(client, other);
        begin(other, client);
    }
}
