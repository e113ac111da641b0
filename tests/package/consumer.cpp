// The same from C++, where the descriptions are written by hand and the functions are called without macros.
#include <mica/mica.h>

#include <cstdio>

struct Counter {
    int value;
};

int main()
{
    mica_field field = {};
    field.name = "value";
    field.element_bytes = sizeof(int);
    field.count = 1;
    field.kind = MICA_KIND_I32;

    mica_type type = {};
    type.name = "Counter";
    type.fields = &field;
    type.field_count = 1;
    type.size_bytes = sizeof(Counter);
    type.alignment = alignof(Counter);
    type.kind = MICA_KIND_STRUCT;

    mica_world *world = mica_world_create(nullptr);
    mica_component counter = mica_component_define(world, &type);
    Counter first = {41};
    mica_value value = {counter, sizeof first, &first};
    mica_entity entity = mica_create_values(world, &value, 1);
    static_cast<Counter *>(mica_write_component(world, entity, counter))->value += 1;
    std::printf("%d\n", static_cast<const Counter *>(mica_get_component(world, entity, counter))->value);
    mica_world_destroy(world);
}
