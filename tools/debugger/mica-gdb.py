"""Shows the types of Mica in gdb.

    (gdb) source /usr/share/mica/mica-gdb.py
    (gdb) print *world
    (gdb) print view
    (gdb) print person->name
    (gdb) print $mica_items(person->inventory, "Item")
    (gdb) print $mica_get(world, entity, "Position")

Entities, text, lists and the rows of views need the debug information of the program; worlds, the columns of views and $mica_get need
that of the library, too (-g). Everything is read from memory: nothing is called, so that core files work as well.
"""
import gdb
import gdb.printing

POOL_IDS = 0x8000  # components in pools have ids from here on
COUNT_MAX = (1 << 26) - 1  # elements of a list
TEXT_IN_PLACE = 14
TEXT_BLOCK, TEXT_BORROWED = 0xFF, 0xFE
PAGE_SHIFT = 10  # records per page of the entity index
CHUNKS_WITHOUT_ROWS = 2  # the first chunks are those of free slots, and of entities whose creation is recorded
SHOWN = 200  # archetypes and pools


def is_complete(value):
    """Whether the debug information has the fields of a struct."""
    kind = value.type.strip_typedefs()
    return kind.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION) and bool(kind.fields())


def find_type(name):
    """The type of a component by its name, or None."""
    for spelling in (name, f"struct {name}"):
        try:
            return gdb.lookup_type(spelling)
        except gdb.error:
            continue
    return None


def component_name(world, number):
    """The name of a component of a world."""
    components = world["components"]
    table, limit, at = components["by_id"], int(components["limit"]), number
    if number >= POOL_IDS:
        table, limit, at = components["pooled"], int(components["pooled_limit"]), number - POOL_IDS
    if at >= limit or not int(table[at]):
        return f"component {number}"
    return table[at]["type"]["type"]["name"].string()


def component_number(world, name):
    """The id of a component of a world by its name; 0 if there is none."""
    components = world["components"]
    for table, limit, first in (("by_id", "limit", 0), ("pooled", "pooled_limit", POOL_IDS)):
        for at in range(int(components[limit])):
            component = components[table][at]
            if int(component) and component["type"]["type"]["name"].string() == name:
                return first + at
    return 0


def is_companion(world, number):
    """Whether a component is a hidden column that belongs to another one."""
    component = world["components"]["by_id"][number]
    return bool(int(component)) and int(component["type"]["companion"]) != 0


def plural(count, noun):
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def archetype_text(world, archetype):
    numbers = [int(archetype["components"][i]) for i in range(int(archetype["component_count"]))]
    names = [component_name(world, number) for number in numbers if not is_companion(world, number)]
    return f"{', '.join(names) or 'no components'}: {plural(int(archetype['row_count']), 'row')} in {plural(int(archetype['chunk_count']), 'chunk')}"


def pool_count(pool):
    return int(pool["count"]) - int(pool["dead_count"])


class EntityPrinter:
    """mica_entity: the words of the reports of the library."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        index, generation = int(self.value["index"]), int(self.value["generation"])
        return f"entity {index} (generation {generation})" if generation else "nil"


class TextPrinter:
    """mica_text: its characters."""

    def __init__(self, value):
        self.value = value
        raw = value["private_"]["bytes"]
        self.cells = [int(raw[i]) & 0xFF for i in range(16)]
        self.is_valid = self.cells[15] <= TEXT_IN_PLACE or self.cells[15] in (TEXT_BLOCK, TEXT_BORROWED)

    def to_string(self):
        cells = self.cells
        if not self.is_valid:
            return "<invalid text>"
        if cells[15] <= TEXT_IN_PLACE:
            return bytes(cells[:cells[15]]).decode("utf-8", "backslashreplace")
        address = int(self.value["private_"]["words"][0])
        length = int.from_bytes(bytes(cells[8:12]), "little")
        characters = gdb.Value(address).cast(gdb.lookup_type("char").pointer())
        return characters.lazy_string(length=length)

    def display_hint(self):
        return "string" if self.is_valid else None


def list_head(value):
    """The address of the elements of a list, their number, and the bytes of one."""
    items = value["private_"]["items"]
    if not int(items):
        return items, 0, 0
    head = items.cast(gdb.lookup_type("unsigned int").pointer())
    return items, int(head[-1]) & COUNT_MAX, int(head[-2]) & 0x1FFF


class ListPrinter:
    """mica_list: how many elements. Their type is known to the description of the component only: see $mica_items."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        try:
            items, count, element = list_head(self.value)
        except gdb.MemoryError:
            return "<invalid list>"
        return f"list of {plural(count, 'element')} of {plural(element, 'byte')} at {int(items):#x}" if count else "empty list"


class ViewPrinter:
    """mica_view: its entities, and a column for each component."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        return f"view of {plural(int(self.value['count']), 'row')}"

    def children(self):
        count = int(self.value["count"])
        yield "dt", self.value["dt"]
        if not count or not int(self.value["entities"]):
            return
        yield "entities", self.value["entities"].dereference().cast(self.value["entities"].type.target().unqualified().array(count - 1))
        query = self.value["private_"]["query"]
        if not int(query) or not is_complete(query.dereference()):
            return
        for term in range(int(query["term_count"])):
            column = self.value["private_"]["columns"][term]
            component = int(query["terms"][term]["component"])
            if int(column) and component:
                name = component_name(query["world"].dereference(), component)
                yield name, self.column_value(query, term, column, name, count)

    @staticmethod
    def column_value(query, term, column, name, count):
        """The values of a column; its address, if they are not known as a type of the program."""
        kind, size = find_type(name), int(query["term_bytes"][term])
        if kind is None or size != kind.sizeof:
            return column
        if bool(query["is_singleton"][term]):
            count = 1
        return column.cast(kind.array(count - 1).pointer()).dereference()


class WorldPrinter:
    """mica_world: how much it has, then its archetypes with entities, and its pools."""

    def __init__(self, value):
        self.value = value

    def archetypes(self):
        table = self.value["archetypes"]
        return [table["by_id"][i] for i in range(int(table["count"]))]

    def to_string(self):
        archetypes = self.archetypes()
        parts = (plural(sum(int(archetype["row_count"]) for archetype in archetypes), "entity").replace("entitys", "entities"),
                 plural(len(archetypes), "archetype"), plural(int(self.value["chunks"]["count"]), "chunk"),
                 plural(int(self.value["pools"]["count"]), "pool"), plural(int(self.value["names"]["count"]), "name"))
        return f"world of {', '.join(parts)}"

    def children(self):
        shown = [archetype for archetype in self.archetypes() if int(archetype["row_count"])]
        for archetype in shown[:SHOWN]:
            yield f"archetype {int(archetype['id'])}", archetype_text(self.value, archetype)
        pools = self.value["pools"]
        for i in range(min(int(pools["count"]), SHOWN)):
            pool = pools["all"][i]
            yield f"pool {pool['type']['type']['name'].string()}", plural(pool_count(pool), "row")


class Items(gdb.Function):
    """$mica_items(list, "T"): the elements of a list of T as an array."""

    def __init__(self):
        super().__init__("mica_items")

    def invoke(self, value, name):
        items, count, size = list_head(value)
        kind = find_type(name.string())
        if kind is None:
            raise gdb.GdbError(f"no type {name.string()}")
        if not count:
            raise gdb.GdbError("the list is empty")
        if size != kind.sizeof:
            raise gdb.GdbError(f"the elements of the list have {size} bytes, not {kind.sizeof}")
        return items.cast(kind.array(count - 1).pointer()).dereference()


def find_row(world, entity):
    """The chunk and the row of a living entity; None for others."""
    index, generation = int(entity["index"]), int(entity["generation"])
    pages = gdb.Value(int(world["entities"]["directory"])).cast(gdb.lookup_type("uintptr_t").pointer())
    if not generation or index >> PAGE_SHIFT >= int(pages[-1]):
        return None
    records = gdb.Value(int(pages[index >> PAGE_SHIFT])).cast(gdb.lookup_type("unsigned long long").pointer())
    record = int(records[index])
    number, row = record >> 16 & 0xFFFFFF, record & 0xFFFF
    if record >> 40 != generation or number < CHUNKS_WITHOUT_ROWS:
        return None
    return world["chunks"]["by_number"][number], row


def find_in_chunk(chunk, row, number):
    """The address of a value of a component, or None."""
    mask = int(chunk["finder_mask"])
    for at in range(number, number + mask + 1):
        finder = chunk["finders"][at & mask]
        if int(finder["component"]) == number:
            return int(finder["values"]) + row * int(finder["bytes"])
        if not int(finder["component"]):
            return None
    return None


def find_in_pool(world, entity, number):
    """The same in a pool. The rows are searched one after the other: that works for every kind of index."""
    pool = world["pools"]["by_number"][number - POOL_IDS]
    if not int(pool["values"]):
        return None
    for row in range(int(pool["row_limit"])):
        owner = pool["owners"][row]
        if int(owner["index"]) == int(entity["index"]) and int(owner["generation"]) == int(entity["generation"]):
            return int(pool["values"]) + row * int(pool["value_bytes"])
    return None


class Get(gdb.Function):
    """$mica_get(world, entity, "T"): the value of component T of an entity; not of split components and tags."""

    def __init__(self):
        super().__init__("mica_get")

    def invoke(self, world, entity, name):
        text = name.string()
        world = world.dereference() if world.type.strip_typedefs().code == gdb.TYPE_CODE_PTR else world
        if not is_complete(world):
            raise gdb.GdbError("the library has no debug information: compile it with -g")
        kind, number, place = find_type(text), component_number(world, text), find_row(world, entity)
        if kind is None:
            raise gdb.GdbError(f"no type {text}")
        if place is None:
            raise gdb.GdbError("the entity is not alive")
        address = None
        if number >= POOL_IDS:
            address = find_in_pool(world, entity, number)
        elif number:
            address = find_in_chunk(*place, number)
        if not address:
            raise gdb.GdbError(f"the entity has no value of {text}")
        return gdb.Value(address).cast(kind.pointer()).dereference()


def register():
    printers = gdb.printing.RegexpCollectionPrettyPrinter("mica")
    for name, printer in (("entity", EntityPrinter), ("text", TextPrinter), ("list", ListPrinter), ("view", ViewPrinter),
                          ("world", WorldPrinter)):
        printers.add_printer(f"mica_{name}", f"^mica_{name}$", printer)
    gdb.printing.register_pretty_printer(None, printers, replace=True)
    Items()
    Get()


register()
