#include "canvas.h"

/* Five rows of three pixels: an octal digit each, the top row first. */
static const uint16_t letters[] = {
    025755, 065656, 034443, 065556, 074647, 074644, 034553, 055755, 072227, 011152, 055655, 044447, 057755,
    065555, 025552, 065644, 025563, 065655, 034216, 072222, 055557, 055552, 055775, 055255, 055222, 071247,
};
static const uint16_t digits[] = {075557, 026227, 071747, 071717, 055711, 074717, 074757, 071222, 075757, 075717};
static const struct {
    char sign;
    uint16_t rows;
} signs[] = {
    {'.', 000002}, {',', 000024}, {':', 002020}, {'/', 011244}, {'%', 051245}, {'-', 000700}, {'+', 002720},
    {'(', 012221}, {')', 042224}, {'<', 012421}, {'>', 042124}, {'=', 007070}, {'|', 022222},
};

static uint16_t glyph_of(char letter)
{
    if (letter >= 'a' && letter <= 'z')
        return letters[letter - 'a'];
    if (letter >= 'A' && letter <= 'Z')
        return letters[letter - 'A'];
    if (letter >= '0' && letter <= '9')
        return digits[letter - '0'];
    for (unsigned i = 0; i < sizeof signs / sizeof *signs; ++i)
        if (signs[i].sign == letter)
            return signs[i].rows;
    return 0;
}

void canvas_fill(canvas *canvas, box where, uint32_t color)
{
    int left = where.x < 0 ? 0 : where.x, top = where.y < 0 ? 0 : where.y;
    int right = where.x + where.width, bottom = where.y + where.height;
    right = right > canvas->width ? canvas->width : right;
    bottom = bottom > canvas->height ? canvas->height : bottom;
    for (int y = top; y < bottom; ++y)
        for (int x = left; x < right; ++x)
            canvas->pixels[y * canvas->width + x] = color;
}

void canvas_glow(canvas *canvas, int x, int y, uint32_t color)
{
    if (x < 0 || y < 0 || x >= canvas->width || y >= canvas->height)
        return;
    uint32_t *pixel = &canvas->pixels[y * canvas->width + x], sum = 0;
    for (int shift = 0; shift < 24; shift += 8) {
        uint32_t light = (*pixel >> shift & 255) + (color >> shift & 255);
        sum |= (light > 255 ? 255 : light) << shift;
    }
    *pixel = sum;
}

int canvas_text(canvas *canvas, int x, int y, int scale, uint32_t color, const char *text)
{
    for (; *text; ++text, x += FONT_WIDTH * scale)
        for (int row = 0; row < 5; ++row)
            for (int column = 0; column < 3; ++column)
                if (glyph_of(*text) >> ((4 - row) * 3 + 2 - column) & 1)
                    canvas_fill(canvas, (box){x + column * scale, y + row * scale, scale, scale}, color);
    return x;
}
