/* Components that own something: a function that destroys one value and one that copies it are all they need, in every storage. */
#include "mica/mica.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Sound { char *samples; float volume; } Sound;

static int alive;

static Sound sound_make(const char *samples, float volume)
{
    Sound sound = {malloc(strlen(samples) + 1), volume};
    strcpy(sound.samples, samples);
    ++alive;
    return sound;
}

static void sound_destroy(void *value)
{
    Sound *sound = value;
    alive -= sound->samples != NULL; /* a sound that is added without a value is zero */
    free(sound->samples);
}

static bool sound_copy(void *to, const void *from)
{
    const Sound *sound = from;
    *(Sound *)to = sound->samples ? sound_make(sound->samples, sound->volume) : *sound;
    return true;
}

MICA_COMPONENT_WITH(Sound, (.destroy_one = sound_destroy, .copy_one = sound_copy), volume)

/* Without described fields, in a pool and as a singleton. */
typedef Sound Echo;
MICA_OPAQUE(Echo, (.storage = MICA_STORAGE_POOL, .destroy_one = sound_destroy, .copy_one = sound_copy))
typedef Sound Music;
MICA_OPAQUE(Music, (.storage = MICA_STORAGE_SINGLETON, .destroy_one = sound_destroy, .copy_one = sound_copy))

int main(void)
{
    mica_world *world = mica_world_create(NULL);
    Sound bark = sound_make("wuff", 1), far = sound_make("uff", 0.5f);

    mica_entity dog = mica_create(world, MICA_FROM(Sound, &bark), MICA_FROM(Echo, &far)); /* copies */
    mica_entity other = mica_clone(world, dog);
    *mica_singleton_write(world, Music) = sound_make("la la", 1);
    printf("%d sounds; %s and %s, far away %s, music %s\n", alive, mica_get(world, dog, Sound)->samples,
           mica_get(world, other, Sound)->samples, mica_get(world, other, Echo)->samples,
           mica_singleton_get(world, Music)->samples);

    mica_destroy(world, dog);
    mica_remove(world, other, Echo);
    mica_add(world, other, Echo); /* zero */
    printf("%d sounds\n", alive);

    mica_world_destroy(world);
    sound_destroy(&bark);
    sound_destroy(&far);
    printf("%d sounds\n", alive);
}
