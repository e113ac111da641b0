/* A battle in a window: `make show`. Space pauses, the arrow keys step back and forward. Drag the time line to go back to any
 * of the last ticks; from there the battle repeats bit-identically.
 *
 *     show [--units N] [--frames N] [--png FILE] [--gif FILE] [--headless]
 */
#include "image.h"
#include "picture.h"

#include <SDL.h>
#include <stdlib.h>
#include <string.h>

typedef struct show {
    battle battle;
    timeline timeline;
    costs costs;
    canvas canvas;
    bool is_paused, is_dragging, is_over;
    /* from the command line */
    uint32_t units, frames;
    const char *png, *gif;
    bool headless;
} show;

static bool read_arguments(show *show, int count, char **words)
{
    for (int i = 1; i < count; ++i) {
        const char *value = i + 1 < count ? words[i + 1] : NULL;
        if (strcmp(words[i], "--headless") == 0) {
            show->headless = true;
            continue;
        }
        if (value && strcmp(words[i], "--units") == 0)
            show->units = (uint32_t)strtoul(value, NULL, 10);
        else if (value && strcmp(words[i], "--frames") == 0)
            show->frames = (uint32_t)strtoul(value, NULL, 10);
        else if (value && strcmp(words[i], "--png") == 0)
            show->png = value;
        else if (value && strcmp(words[i], "--gif") == 0)
            show->gif = value;
        else
            return false;
        ++i;
    }
    return show->units >= 2 && show->units <= 4000000 && (!show->headless || show->frames > 0);
}

static bool step_forward(show *show)
{
    if (mica_step(show->battle.world, 1.0f / 30) != MICA_OK || !timeline_note(&show->timeline))
        return false;
    costs_note(&show->costs, &show->battle, show->timeline.at);
    return true;
}

static void draw(show *show)
{
    picture_draw(&show->canvas, &show->battle, &show->timeline, &show->costs, show->is_paused ? "paused" : "");
}

/* Goes back to the oldest tick that is kept and runs to where the battle was: it must be the same battle. */
static bool repeats_itself(show *show)
{
    uint64_t end = show->timeline.last, first = show->timeline.first, hash = mica_world_hash(show->battle.world);
    bool fine = timeline_go(&show->timeline, first);
    while (fine && show->timeline.at < end)
        fine = step_forward(show);
    fine = fine && mica_world_hash(show->battle.world) == hash;
    printf("%u ticks back and forth: %s\n", (unsigned)(end - first), fine ? "the same world" : "another world");
    return fine;
}

/* Without a window: the same pictures into files. */
static bool run_headless(show *show)
{
    animation animation;
    bool fine = !show->gif || animation_begin(&animation, show->gif, PICTURE_WIDTH / 2, PICTURE_HEIGHT / 2);
    for (uint32_t frame = 0; frame < show->frames && fine; ++frame) {
        fine = step_forward(show);
        if (fine && show->gif && frame % 4 == 3) {
            draw(show);
            fine = animation_add(&animation, &show->canvas, 7);
        }
    }
    draw(show);
    if (show->gif)
        fine = animation_end(&animation) && fine;
    return fine && repeats_itself(show);
}

static void handle(show *show, const SDL_Event *event)
{
    if (event->type == SDL_QUIT || (event->type == SDL_KEYDOWN && event->key.keysym.sym == SDLK_q))
        show->is_over = true;
    else if (event->type == SDL_KEYDOWN && event->key.keysym.sym == SDLK_SPACE)
        show->is_paused = !show->is_paused;
    else if (event->type == SDL_KEYDOWN && event->key.keysym.sym == SDLK_LEFT) {
        show->is_paused = true;
        timeline_go(&show->timeline, show->timeline.at - (show->timeline.at > 0));
    } else if (event->type == SDL_KEYDOWN && event->key.keysym.sym == SDLK_RIGHT) {
        show->is_paused = true;
        if (show->timeline.at < show->timeline.last)
            timeline_go(&show->timeline, show->timeline.at + 1);
        else
            step_forward(show);
    } else if (event->type == SDL_MOUSEBUTTONDOWN)
        show->is_dragging = show->is_paused = picture_tick_at(&show->timeline, event->button.x, event->button.y) >= 0;
    else if (event->type == SDL_MOUSEBUTTONUP)
        show->is_dragging = false;
    if (show->is_dragging) {
        int x, y;
        SDL_GetMouseState(&x, &y);
        int64_t tick = picture_tick_at(&show->timeline, x, y);
        if (tick >= 0)
            timeline_go(&show->timeline, (uint64_t)tick);
    }
}

static bool run_window(show *show)
{
    SDL_Window *window = NULL;
    SDL_Renderer *renderer = NULL;
    SDL_Texture *texture = NULL;
    bool fine = SDL_Init(SDL_INIT_VIDEO) == 0 &&
                (window = SDL_CreateWindow("Mica: a battle", SDL_WINDOWPOS_CENTERED, SDL_WINDOWPOS_CENTERED,
                                           PICTURE_WIDTH, PICTURE_HEIGHT, 0)) &&
                (renderer = SDL_CreateRenderer(window, -1, 0)) &&
                (texture = SDL_CreateTexture(renderer, SDL_PIXELFORMAT_RGB888, SDL_TEXTUREACCESS_STREAMING,
                                             PICTURE_WIDTH, PICTURE_HEIGHT));
    if (!fine)
        fprintf(stderr, "show: no window: %s\n", SDL_GetError());
    for (uint32_t frame = 0; fine && !show->is_over && (!show->frames || frame < show->frames); ++frame) {
        uint64_t start = SDL_GetTicks64();
        for (SDL_Event event; SDL_PollEvent(&event);)
            handle(show, &event);
        if (!show->is_paused)
            fine = step_forward(show);
        draw(show);
        SDL_UpdateTexture(texture, NULL, show->canvas.pixels, PICTURE_WIDTH * (int)sizeof(uint32_t));
        SDL_RenderCopy(renderer, texture, NULL, NULL);
        if (show->frames && frame + 1 == show->frames) /* what the window shows, for --png */
            SDL_RenderReadPixels(renderer, NULL, SDL_PIXELFORMAT_RGB888, show->canvas.pixels,
                                 PICTURE_WIDTH * (int)sizeof(uint32_t));
        SDL_RenderPresent(renderer);
        uint64_t passed = SDL_GetTicks64() - start;
        if (!show->frames && passed < 33)
            SDL_Delay((uint32_t)(33 - passed));
    }
    SDL_DestroyTexture(texture);
    SDL_DestroyRenderer(renderer);
    SDL_DestroyWindow(window);
    SDL_Quit();
    return fine;
}

int main(int count, char **words)
{
    show show = {.units = 100000};
    if (!read_arguments(&show, count, words)) {
        fputs("usage: show [--units N] [--frames N] [--png FILE] [--gif FILE] [--headless]\n", stderr);
        return 2;
    }
    mica_world *world = mica_world_create(NULL);
    show.canvas = (canvas){PICTURE_WIDTH, PICTURE_HEIGHT, calloc(PICTURE_WIDTH * PICTURE_HEIGHT, sizeof(uint32_t))};
    bool fine = world && show.canvas.pixels && battle_begin(&show.battle, world, show.units) &&
                mica_stats_enable(world, 1) == MICA_OK && timeline_begin(&show.timeline, world) &&
                (show.headless ? run_headless(&show) : run_window(&show));
    if (fine && show.png && !image_write_png(&show.canvas, show.png)) {
        fprintf(stderr, "show: can't write %s\n", show.png);
        fine = false;
    }
    if (fine && show.frames)
        printf("tick %u: %u and %u soldiers, world hash %016llx\n", (unsigned)show.timeline.at,
               (unsigned)battle_count(&show.battle, 0), (unsigned)battle_count(&show.battle, 1),
               (unsigned long long)mica_world_hash(world));
    mica_world_destroy(world);
    free(show.canvas.pixels);
    return fine ? 0 : 1;
}
