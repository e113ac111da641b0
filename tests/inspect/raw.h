/* Bytes sent to a server as they are, for what no polite client sends. */
#ifndef MICA_TESTS_INSPECT_RAW_H
#define MICA_TESTS_INSPECT_RAW_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define SOME_KEY "dGhlIHNhbXBsZSBub25jZQ=="

static inline int raw_connect(uint16_t port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int file = socket(AF_INET, SOCK_STREAM, 0);
    struct timeval limit = {.tv_sec = 5};
    setsockopt(file, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    ck_assert_int_eq(connect(file, (struct sockaddr *)&address, sizeof address), 0);
    return file;
}

static inline void raw_send(int file, const void *bytes, size_t count)
{
    for (size_t sent = 0; sent < count;) {
        ssize_t n = send(file, (const char *)bytes + sent, count - sent, MSG_NOSIGNAL);
        if (n <= 0)
            return; /* the server has closed the connection */
        sent += (size_t)n;
    }
}

/* Returns the status of an answer, or 0 if the connection was closed. */
static inline int raw_status(int file)
{
    char text[16] = "";
    size_t count = 0;
    while (count < 12) {
        ssize_t n = recv(file, text + count, 12 - count, 0);
        if (n <= 0)
            return 0;
        count += (size_t)n;
    }
    int status = 0;
    sscanf(text, "HTTP/1.1 %d", &status);
    return status;
}

/* Sends a request for a WebSocket. */
static inline void raw_upgrade(int file, const char *path, const char *host, const char *more)
{
    char text[1024];
    int length = snprintf(text, sizeof text,
                          "GET %s HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                          "Sec-WebSocket-Key: " SOME_KEY "\r\nSec-WebSocket-Version: 13\r\n%s\r\n",
                          path, host, more);
    raw_send(file, text, (size_t)length);
}

#endif
