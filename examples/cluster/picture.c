#include "picture.h"
#include "mica/mica.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 480, COLOURS = 16 };

/* One byte per pixel: 0 for nothing, or the number of a colour. */
typedef struct picture {
    uint8_t pixels[SIDE][SIDE];
} picture;

static const uint8_t palette[COLOURS][3] = {
    {16, 20, 28},   {86, 180, 233}, {230, 159, 0},  {0, 158, 115},  {240, 228, 66}, {213, 94, 0},
    {204, 121, 167}, {140, 120, 255}, {170, 220, 110}, {255, 150, 140}, {90, 210, 210}, {200, 160, 110},
    {120, 150, 190}, {240, 190, 220}, {110, 190, 90}, {230, 230, 230},
};

/* ---- drawing */

static int pixel_of(float at, float size)
{
    float part = at / size - floorf(at / size); /* a torus continues at the other side */
    int pixel = (int)(part * SIDE);
    return pixel < SIDE - 1 ? pixel : SIDE - 2;
}

static void draw(picture *picture, mica_world *world, mica_component position, float size, uint32_t rank)
{
    uint8_t colour = (uint8_t)(1 + rank % (COLOURS - 1));
    uint32_t stride = mica_component_type(position)->size_bytes;
    mica_term terms[] = {{.component = position, .access = MICA_ACCESS_READ}};
    mica_query *query = mica_query_create(world, &(mica_query_def){.terms = terms, .term_count = 1});
    for (mica_view view = mica_query_begin(query); mica_view_next(&view);) {
        const char *values = mica_view_read_at(&view, 0);
        for (uint32_t i = 0; i < view.count; ++i) {
            float at[2];
            memcpy(at, values + (size_t)i * stride, sizeof at);
            int x = pixel_of(at[0], size), y = pixel_of(at[1], size);
            for (int dot = 0; dot < 4; ++dot)
                picture->pixels[y + dot / 2][x + dot % 2] = colour;
        }
    }
    mica_query_destroy(query);
}

/* The order of ranks does not matter: where two have drawn, the higher colour counts. */
static void combine(void *to, const void *from, void *context)
{
    (void)context;
    uint8_t *own = to;
    const uint8_t *other = from;
    for (size_t i = 0; i < sizeof(picture); ++i)
        own[i] = own[i] > other[i] ? own[i] : other[i];
}

/* ---- PNG (www.w3.org/TR/png), with pixels that are not compressed */

typedef struct writer {
    FILE *file;
    uint32_t check; /* of a chunk */
    uint32_t a, b;  /* of the image: Adler-32 */
} writer;

static void put(writer *writer, const void *bytes, size_t count)
{
    const uint8_t *at = bytes;
    for (size_t i = 0; i < count; ++i) {
        writer->check ^= at[i];
        for (int bit = 0; bit < 8; ++bit)
            writer->check = writer->check >> 1 ^ (writer->check & 1 ? 0xEDB88320u : 0);
    }
    fwrite(bytes, 1, count, writer->file);
}

static void put_big(writer *writer, uint32_t value)
{
    uint8_t bytes[] = {(uint8_t)(value >> 24), (uint8_t)(value >> 16), (uint8_t)(value >> 8), (uint8_t)value};
    put(writer, bytes, sizeof bytes);
}

static void begin_chunk(writer *writer, const char *kind, uint32_t count)
{
    put_big(writer, count);
    writer->check = 0xFFFFFFFFu;
    put(writer, kind, 4);
}

static void end_chunk(writer *writer)
{
    put_big(writer, ~writer->check);
}

/* Each row is a block of its own. */
static void put_image(writer *writer, const picture *picture)
{
    enum { ROW = SIDE + 1 };
    begin_chunk(writer, "IDAT", 2 + SIDE * (5 + ROW) + 4);
    put(writer, "\x78\x01", 2);
    writer->a = 1;
    writer->b = 0;
    for (int y = 0; y < SIDE; ++y) {
        uint8_t row[ROW] = {0}; /* it begins with the number of a filter: none */
        uint8_t head[] = {y == SIDE - 1, ROW & 255, ROW >> 8, ~ROW & 255, ~ROW >> 8 & 255};
        memcpy(row + 1, picture->pixels[y], SIDE);
        for (int i = 0; i < ROW; ++i) {
            writer->a = (writer->a + row[i]) % 65521;
            writer->b = (writer->b + writer->a) % 65521;
        }
        put(writer, head, sizeof head);
        put(writer, row, sizeof row);
    }
    put_big(writer, writer->b << 16 | writer->a);
    end_chunk(writer);
}

static bool write_png(const picture *picture, const char *path)
{
    writer writer = {.file = fopen(path, "wb")};
    if (!writer.file)
        return false;
    put(&writer, "\x89PNG\r\n\x1A\n", 8);
    begin_chunk(&writer, "IHDR", 13);
    put_big(&writer, SIDE);
    put_big(&writer, SIDE);
    put(&writer, "\x08\x03\0\0\0", 5); /* eight bits per pixel, which are numbers of colours */
    end_chunk(&writer);
    begin_chunk(&writer, "PLTE", sizeof palette);
    put(&writer, palette, sizeof palette);
    end_chunk(&writer);
    put_image(&writer, picture);
    begin_chunk(&writer, "IEND", 0);
    end_chunk(&writer);
    bool is_written = !ferror(writer.file);
    return fclose(writer.file) == 0 && is_written;
}

bool picture_write(mica_cluster *cluster, mica_world *world, mica_component position, float size, const char *path)
{
    if (!path)
        return true;
    picture *picture = calloc(1, sizeof *picture);
    if (!picture)
        return false;
    draw(picture, world, position, size, mica_cluster_rank(cluster));
    bool done = mica_cluster_combine(cluster, picture, sizeof *picture, combine, NULL) == MICA_OK;
    if (done && mica_cluster_rank(cluster) == 0 && !write_png(picture, path)) {
        fprintf(stderr, "%s can't be written\n", path);
        done = false;
    }
    free(picture);
    return done;
}

const char *option(int argument_count, char **arguments, const char *word)
{
    for (int i = 1; i + 1 < argument_count; ++i)
        if (!strcmp(arguments[i], word))
            return arguments[i + 1];
    return NULL;
}
