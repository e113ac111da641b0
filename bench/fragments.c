#include "fragments.h"

#include "bench.h"
#include "components.h"

#define EACH_LETTER(apply)                                                                                             \
    apply(A) apply(B) apply(C) apply(D) apply(E) apply(F) apply(G) apply(H) apply(I)                                   \
    apply(J) apply(K) apply(L) apply(M) apply(N) apply(O) apply(P) apply(Q) apply(R)                                   \
    apply(S) apply(T) apply(U) apply(V) apply(W) apply(X) apply(Y) apply(Z)

#define DESCRIBE_LETTER(letter)                                                                                        \
    typedef struct letter { float value; } letter;                                                                     \
    MICA_COMPONENT(letter, value)
EACH_LETTER(DESCRIBE_LETTER)

MICA_TAG(Tag0)
MICA_TAG(Tag1)
MICA_TAG(Tag2)
MICA_TAG(Tag3)
MICA_TAG(Tag4)
MICA_TAG(Tag5)
MICA_TAG(Tag6)
MICA_TAG(Tag7)
MICA_TAG(Tag8)
MICA_TAG(Tag9)

mica_component tag_at(uint32_t i)
{
    mica_type *const tags[TAGS] = {&mica_type_of_Tag0, &mica_type_of_Tag1, &mica_type_of_Tag2, &mica_type_of_Tag3,
                                   &mica_type_of_Tag4, &mica_type_of_Tag5, &mica_type_of_Tag6, &mica_type_of_Tag7,
                                   &mica_type_of_Tag8, &mica_type_of_Tag9};
    return mica_type_id(tags[i]);
}

void populate_letters(mica_world *world, uint32_t n)
{
#define ID_OF_LETTER(letter) MICA_ID(letter),
    const mica_component letters[LETTERS] = {EACH_LETTER(ID_OF_LETTER)};
    for (uint32_t i = 0; i < n; ++i) {
        const mica_value values[] = {MICA_WITH(Data, {1}), {letters[i % LETTERS], 0, NULL}};
        require(!mica_is_nil(mica_create_id(world, values, 2)), "mica_create_id failed");
    }
}

void populate_tag_sets(mica_world *world, uint32_t n)
{
    for (uint32_t i = 0; i < n; ++i) {
        Position position = position_of(i);
        Velocity velocity = velocity_of(i);
        mica_value values[2 + TAGS] = {MICA_WITH(Position, {position.x, position.y, position.z}),
                                       MICA_WITH(Velocity, {velocity.x, velocity.y, velocity.z})};
        uint32_t count = 2;
        for (uint32_t tag = 0; tag < TAGS; ++tag)
            if (i >> tag & 1)
                values[count++] = (mica_value){tag_at(tag), 0, NULL};
        require(!mica_is_nil(mica_create_id(world, values, count)), "mica_create_id failed");
    }
}
