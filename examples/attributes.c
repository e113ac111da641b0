/* Fields with units, ranges, initial values and a line of documentation: an editor that knows no type shows and checks them. */
#include "mica/mica.h"
#include "mica/value.h"

#include <math.h>
#include <stdio.h>

typedef enum Gear { PARK, DRIVE, REVERSE } Gear;
MICA_ENUM(Gear, PARK, DRIVE, REVERSE)

typedef struct Car { float speed; float fuel; Gear gear; uint8_t doors; mica_text plate; } Car;
MICA_COMPONENT(Car, (speed, float, .unit = "km/h", .minimum = -20, .maximum = 240, .note = "backwards is negative"),
               (fuel, float, .unit = "l", .minimum = 0, .maximum = INFINITY, .initial = 40),
               (gear, Gear, .initial = DRIVE), (doors, uint8_t, .initial = 4),
               (plate, mica_text, .initial_json = "\"not registered\""))

/* One line per field: its value and what is known about it. */
static void show(mica_member whole)
{
    for (uint32_t i = 0; i < mica_member_count(whole); ++i) {
        char text[100];
        mica_member field = mica_member_at(whole, i);
        const mica_attributes *about = field.attributes;
        mica_value_write(field, text, sizeof text);
        printf("  %-6s %-16s %-5s", field.name, text, about && about->unit ? about->unit : "");
        if (about && about->minimum < about->maximum)
            printf(" %g to %g", about->minimum, about->maximum);
        printf("%s%s\n", about && about->note ? "  " : "", about && about->note ? about->note : "");
    }
}

static void change(mica_member whole, const char *text)
{
    mica_value_error error;
    printf("%s: %s\n", text, mica_value_parse(whole, text, &error) == MICA_OK ? "done" : error.text);
}

static void print(const mica_report *report, void *context)
{
    (void)context;
    printf("report: %s\n", report->text);
}

int main(void)
{
    mica_world_def def = mica_world_def_default();
    def.check_ranges = true; /* while we develop */
    def.report = print;
    mica_world *world = mica_world_create(&def);
    mica_entity entity = mica_create(world, MICA_WITH(Car)); /* without a value: it starts as its description says */
    mica_member car = mica_member_of(MICA_ID(Car), mica_write(world, entity, Car));
    show(car);
    change(car, "{\"speed\": 120, \"plate\": \"M IC 4\"}");
    change(car, "{\"speed\": 300}");
    change(car, "{\"fuel\": -1}");

    /* A slider has a number, no text. The same rules apply. */
    mica_value_error error;
    mica_scalar slider = {.kind = MICA_KIND_F64, .real = 88.5};
    mica_value_assign(mica_member_find(car, "speed", NULL), slider, NULL);
    if (mica_value_assign(mica_member_find(car, "doors", NULL), slider, &error) != MICA_OK)
        printf("slider: %s\n", error.text);

    /* Writes in C are not checked, unless the program asks: about one value, about all, or for a world that reports by itself. */
    mica_write(world, entity, Car)->speed = 300;
    if (mica_value_check(car, &error) != MICA_OK)
        printf("check: %s\n", error.text);
    mica_world_check_ranges(world, 0);
    mica_value_reset(mica_member_find(car, "speed", NULL));
    show(car);
    mica_create(world, MICA_WITH(Car, {.speed = -30}));
    mica_world_destroy(world);
}
