// The same from C++.
#include <mica/mica.hpp>

#include <cstdio>

struct Counter {
    int value;
};
MICA_COMPONENT(Counter, value)

int main()
{
    mica::world world;
    mica_entity entity = world.create(Counter{41});
    world.each([](Counter &counter) { ++counter.value; });
    std::printf("%d\n", world.read<Counter>(entity)->value);
}
