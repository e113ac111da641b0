#include "image.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static void put_big(uint8_t *to, uint32_t value)
{
    for (int i = 0; i < 4; ++i)
        to[i] = (uint8_t)(value >> (24 - 8 * i));
}

static bool write_part(FILE *file, const char *kind, const uint8_t *bytes, uint32_t count)
{
    uint8_t head[8], check[4];
    put_big(head, count);
    memcpy(head + 4, kind, 4);
    uLong sum = crc32(0, head + 4, 4);
    put_big(check, (uint32_t)(count ? crc32(sum, bytes, count) : sum));
    return fwrite(head, 1, 8, file) == 8 && fwrite(bytes, 1, count, file) == count && fwrite(check, 1, 4, file) == 4;
}

/* Rows as PNG wants them: a filter byte, then red, green, blue; each row less the one above, which packs better. */
static uint8_t *rows_of(const canvas *canvas, size_t *out_bytes)
{
    size_t stride = (size_t)canvas->width * 3 + 1;
    uint8_t *rows = malloc(stride * (size_t)canvas->height);
    *out_bytes = stride * (size_t)canvas->height;
    for (int y = 0; rows && y < canvas->height; ++y) {
        uint8_t *row = rows + stride * (size_t)y;
        row[0] = 2;
        for (int x = 0; x < canvas->width; ++x)
            for (int c = 0; c < 3; ++c) {
                uint32_t above = y ? canvas->pixels[(y - 1) * canvas->width + x] : 0;
                uint32_t here = canvas->pixels[y * canvas->width + x];
                row[1 + 3 * x + c] = (uint8_t)((here >> (16 - 8 * c)) - (above >> (16 - 8 * c)));
            }
    }
    return rows;
}

bool image_write_png(const canvas *canvas, const char *path)
{
    static const uint8_t signature[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
    uint8_t head[13] = {[8] = 8, [9] = 2};
    put_big(head, (uint32_t)canvas->width);
    put_big(head + 4, (uint32_t)canvas->height);

    size_t bytes;
    uint8_t *rows = rows_of(canvas, &bytes);
    uLongf packed_bytes = compressBound(bytes);
    uint8_t *packed = malloc(packed_bytes);
    FILE *file = rows && packed && compress2(packed, &packed_bytes, rows, bytes, 9) == Z_OK ? fopen(path, "wb") : NULL;
    bool written = file && fwrite(signature, 1, sizeof signature, file) == sizeof signature &&
                   write_part(file, "IHDR", head, sizeof head) &&
                   write_part(file, "IDAT", packed, (uint32_t)packed_bytes) && write_part(file, "IEND", head, 0);
    if (file && fclose(file) != 0)
        written = false;
    free(rows);
    free(packed);
    return written;
}

/* Codes of growing width, packed into blocks of up to 255 bytes. */
typedef struct code_writer {
    FILE *file;
    uint32_t bits, bit_count, used;
    uint8_t block[255];
} code_writer;

static void flush_block(code_writer *writer)
{
    if (writer->used) {
        fputc((int)writer->used, writer->file);
        fwrite(writer->block, 1, writer->used, writer->file);
    }
    writer->used = 0;
}

static void put_code(code_writer *writer, uint32_t code, uint32_t width)
{
    writer->bits |= code << writer->bit_count;
    for (writer->bit_count += width; writer->bit_count >= 8; writer->bit_count -= 8, writer->bits >>= 8) {
        writer->block[writer->used++] = (uint8_t)writer->bits;
        if (writer->used == sizeof writer->block)
            flush_block(writer);
    }
}

/* LZW as GIF has it: 8-bit colours, codes of 9 to 12 bits, and a fresh start when they are used up. */
static void write_packed(FILE *file, const uint8_t *colors, size_t count)
{
    enum { CLEAR = 256, END = 257, FIRST = 258, CODES = 4096 };
    static uint16_t longer[CODES][256]; /* the code for a known string and one more colour, or 0 */
    code_writer writer = {.file = file};
    uint32_t next = FIRST, width = 9, prefix = colors[0];
    memset(longer, 0, sizeof longer);
    fputc(8, file);
    put_code(&writer, CLEAR, width);
    for (size_t i = 1; i < count; ++i) {
        uint32_t known = longer[prefix][colors[i]];
        if (known) {
            prefix = known;
            continue;
        }
        put_code(&writer, prefix, width);
        if (next < CODES) {
            longer[prefix][colors[i]] = (uint16_t)next;
            width += next == 1u << width;
            ++next;
        } else {
            put_code(&writer, CLEAR, width);
            memset(longer, 0, sizeof longer);
            next = FIRST;
            width = 9;
        }
        prefix = colors[i];
    }
    put_code(&writer, prefix, width);
    put_code(&writer, END, width);
    put_code(&writer, 0, 7);
    flush_block(&writer);
    fputc(0, file);
}

static void put_small(FILE *file, int value)
{
    fputc(value & 255, file);
    fputc(value >> 8, file);
}

bool animation_begin(animation *animation, const char *path, int width, int height)
{
    *animation = (struct animation){fopen(path, "wb"), width, height};
    FILE *file = animation->file;
    if (!file)
        return false;
    fputs("GIF89a", file);
    put_small(file, width);
    put_small(file, height);
    fwrite("\xF7\0\0", 1, 3, file); /* a table of 256 colours for all pictures */
    for (int color = 0; color < 256; ++color) {
        fputc((color >> 5) * 255 / 7, file);
        fputc((color >> 2 & 7) * 255 / 7, file);
        fputc((color & 3) * 255 / 3, file);
    }
    fwrite("\x21\xFF\x0BNETSCAPE2.0\x03\x01\0\0\0", 1, 19, file); /* again and again */
    return !ferror(file);
}

static uint8_t averaged(const canvas *canvas, box block)
{
    uint32_t red = 0, green = 0, blue = 0, count = (uint32_t)(block.width * block.height);
    for (int y = block.y; y < block.y + block.height; ++y)
        for (int x = block.x; x < block.x + block.width; ++x) {
            uint32_t pixel = canvas->pixels[y * canvas->width + x];
            red += pixel >> 16 & 255;
            green += pixel >> 8 & 255;
            blue += pixel & 255;
        }
    return (uint8_t)((red / count >> 5) << 5 | (green / count >> 5) << 2 | blue / count >> 6);
}

bool animation_add(animation *animation, const canvas *canvas, int hundredths)
{
    FILE *file = animation->file;
    int across = canvas->width / animation->width, down = canvas->height / animation->height;
    size_t count = (size_t)animation->width * (size_t)animation->height;
    uint8_t *colors = malloc(count);
    if (!colors)
        return false;
    for (int y = 0; y < animation->height; ++y)
        for (int x = 0; x < animation->width; ++x)
            colors[y * animation->width + x] = averaged(canvas, (box){x * across, y * down, across, down});

    fwrite("\x21\xF9\x04\0", 1, 4, file);
    put_small(file, hundredths);
    fwrite("\0\0\x2C\0\0\0\0", 1, 7, file);
    put_small(file, animation->width);
    put_small(file, animation->height);
    fputc(0, file);
    write_packed(file, colors, count);
    free(colors);
    return !ferror(file);
}

bool animation_end(animation *animation)
{
    fputc(';', animation->file);
    bool written = !ferror(animation->file);
    return fclose(animation->file) == 0 && written;
}
