#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x03090000
#include <Python.h>
#include <structmember.h>

#include "views.h"

#include "mica/arrow.h"
#include "mica/query.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A Guard knows whether arrays of one loop may still be used: until the structure of the world changes, or a step, flush, mark, snapshot
 * or restore; those of a system until it returns. */
typedef struct guard {
    PyObject_HEAD PyObject *world;
    const mica_python_life *life;
    uint64_t structure, epoch;
    char is_open;
} guard;

/* The array of a column in one view of the last loop. It serves again if nothing else refers to it. */
typedef struct kept {
    const void *address;
    uint32_t count;
    PyObject *array, *attributes;
} kept;

enum { KEPT_MIN = 4, KEPT_MAX = 256 };

typedef struct column_term {
    PyObject *term; /* a ColumnTerm of Python */
    uint32_t index;
    bool is_split, is_written;
    kept *kept; /* by the number of the view in the loop */
    Py_ssize_t capacity;
} column_term;

/* The terms of a query that have a column. */
typedef struct columns {
    PyObject_HEAD Py_ssize_t count;
    column_term *terms;
} columns;

/* What View of Python derives from. */
typedef struct view {
    PyObject_HEAD PyObject *query, *pointer, *columns, *guard;
    mica_view *view; /* of `pointer` */
    Py_ssize_t count, number;
} view;

/* The iterator over the views of a query. */
typedef struct views {
    PyObject_HEAD PyObject *query, *pointer, *columns, *guard, *at_end;
    mica_view *view;
    view *shown; /* the last one */
    Py_ssize_t number;
    bool has_ended;
} views;

/* What Python provides: View, a function that makes an array, one that fetches a split column, ExpiredError. */
static struct {
    PyObject *view_class, *make_array, *split_column, *expired, *guard_name;
} shared;
static PyTypeObject *guard_type, *columns_type, *view_type, *views_type;

static PyObject *with_reference(void *object)
{
    Py_XINCREF(object);
    return object;
}

static void replace(PyObject **place, PyObject *object)
{
    PyObject *old = *place;
    *place = with_reference(object);
    Py_XDECREF(old);
}

static void *allocate(PyTypeObject *type)
{
    return ((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
}

static void release(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

/* Guards */

static bool check(const guard *guard)
{
    const mica_python_life *life = guard->life;
    if (guard->is_open && life->is_open && life->epoch == guard->epoch &&
        mica_world_structure(life->world) == guard->structure)
        return true;
    PyErr_SetString(shared.expired, "this column is no longer valid: the world changed since the view was made; query "
                                    "again, or copy the column before");
    return false;
}

static PyObject *guard_check(PyObject *self, PyObject *ignored)
{
    (void)ignored;
    return check((guard *)self) ? with_reference(Py_None) : NULL;
}

static PyObject *guard_new(PyTypeObject *type, PyObject *arguments, PyObject *names)
{
    (void)names;
    PyObject *world;
    if (!PyArg_ParseTuple(arguments, "O:Guard", &world))
        return NULL;
    PyObject *address = PyObject_GetAttrString(world, "life_address");
    const mica_python_life *life = address ? PyLong_AsVoidPtr(address) : NULL;
    Py_XDECREF(address);
    guard *made = life ? allocate(type) : NULL;
    if (!made)
        return NULL;
    made->world = with_reference(world);
    made->life = life;
    made->structure = life->is_open ? mica_world_structure(life->world) : 0;
    made->epoch = life->epoch;
    made->is_open = 1;
    return (PyObject *)made;
}

static int guard_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((guard *)self)->world);
    return 0;
}

static int guard_clear(PyObject *self)
{
    ((guard *)self)->is_open = 0;
    Py_CLEAR(((guard *)self)->world);
    return 0;
}

static void guard_dealloc(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    guard_clear(self);
    release(self);
}

/* Columns of a query */

static void release_kept(kept *kept)
{
    Py_CLEAR(kept->array);
    Py_CLEAR(kept->attributes);
    kept->address = NULL;
}

static int columns_clear(PyObject *self)
{
    columns *columns = (void *)self;
    for (Py_ssize_t i = 0; i < columns->count; ++i) {
        column_term *term = &columns->terms[i];
        for (Py_ssize_t j = 0; j < term->capacity; ++j)
            release_kept(&term->kept[j]);
        free(term->kept);
        term->kept = NULL;
        term->capacity = 0;
        Py_CLEAR(term->term);
    }
    free(columns->terms);
    columns->terms = NULL;
    columns->count = 0;
    return 0;
}

static int columns_traverse(PyObject *self, visitproc visit, void *arg)
{
    columns *columns = (void *)self;
    Py_VISIT(Py_TYPE(self));
    for (Py_ssize_t i = 0; i < columns->count; ++i) {
        Py_VISIT(columns->terms[i].term);
        for (Py_ssize_t j = 0; j < columns->terms[i].capacity; ++j) {
            Py_VISIT(columns->terms[i].kept[j].array);
            Py_VISIT(columns->terms[i].kept[j].attributes);
        }
    }
    return 0;
}

static void columns_dealloc(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    columns_clear(self);
    release(self);
}

/* Returns the value of an attribute that is a number, or -1 with an exception. */
static long attribute(PyObject *object, const char *name)
{
    PyObject *value = PyObject_GetAttrString(object, name);
    long number = value ? PyLong_AsLong(value) : -1;
    Py_XDECREF(value);
    return number;
}

static bool read_term(column_term *out, PyObject *term)
{
    long index = attribute(term, "index"), is_split = index < 0 ? -1 : attribute(term, "is_split"),
         is_written = is_split < 0 ? -1 : attribute(term, "writable");
    if (is_written < 0)
        return false;
    out->index = (uint32_t)index;
    out->is_split = is_split != 0;
    out->is_written = is_written != 0;
    out->term = with_reference(term);
    return true;
}

/* Columns(terms), a tuple of ColumnTerm. */
static PyObject *columns_new(PyTypeObject *type, PyObject *arguments, PyObject *names)
{
    (void)names;
    PyObject *terms;
    if (!PyArg_ParseTuple(arguments, "O!:Columns", &PyTuple_Type, &terms))
        return NULL;
    Py_ssize_t count = PyTuple_Size(terms);
    columns *made = allocate(type);
    if (made && count) {
        made->terms = calloc((size_t)count, sizeof *made->terms);
        made->count = made->terms ? count : 0;
        if (!made->terms)
            PyErr_NoMemory();
    }
    for (Py_ssize_t i = 0; made && i < count; ++i) {
        if (!made->terms || !read_term(&made->terms[i], PyTuple_GetItem(terms, i))) {
            Py_DECREF(made);
            return NULL;
        }
    }
    return (PyObject *)made;
}

/* Returns where the array of a view is kept, or NULL if it is not: there are too many views, or too little memory. */
static kept *kept_of(column_term *term, Py_ssize_t number)
{
    if (number >= KEPT_MAX)
        return NULL;
    if (number >= term->capacity) {
        Py_ssize_t capacity = term->capacity ? term->capacity * 2 : KEPT_MIN;
        capacity = number < capacity ? capacity : KEPT_MAX;
        kept *grown = realloc(term->kept, (size_t)capacity * sizeof *grown);
        if (!grown)
            return NULL;
        memset(grown + term->capacity, 0, (size_t)(capacity - term->capacity) * sizeof *grown);
        term->kept = grown;
        term->capacity = capacity;
    }
    return &term->kept[number];
}

/* Makes an array, and keeps it for the next loop. */
static PyObject *make_column(const view *view, column_term *term, const void *address)
{
    PyObject *place = PyLong_FromVoidPtr((void *)address);
    PyObject *made = place ? PyObject_CallFunctionObjArgs(shared.make_array, view, term->term, place, NULL) : NULL;
    Py_XDECREF(place);
    kept *kept = made ? kept_of(term, view->number) : NULL;
    if (kept) {
        release_kept(kept);
        kept->attributes = PyObject_GetAttrString(made, "__dict__");
        if (!kept->attributes) {
            Py_DECREF(made);
            return NULL;
        }
        kept->address = address;
        kept->count = view->view->count;
        kept->array = with_reference(made);
    }
    return made;
}

/* Returns the column of a term: None if the view does not have it. One that is written counts as changed from here on. */
static PyObject *column_of(const view *view, column_term *term)
{
    if (term->is_split)
        return PyObject_CallFunctionObjArgs(shared.split_column, view, term->term, NULL);
    const void *address =
        term->is_written ? mica_view_write_at(view->view, term->index) : mica_view_read_at(view->view, term->index);
    if (!address)
        return with_reference(Py_None);
    kept *kept = view->number < term->capacity ? &term->kept[view->number] : NULL;
    if (!kept || kept->address != address || kept->count != view->view->count || Py_REFCNT(kept->array) != 1)
        return make_column(view, term, address);
    if (PyDict_SetItem(kept->attributes, shared.guard_name, view->guard))
        return NULL;
    return with_reference(kept->array);
}

/* Views */

static int view_traverse(PyObject *self, visitproc visit, void *arg)
{
    view *view = (void *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(view->query);
    Py_VISIT(view->pointer);
    Py_VISIT(view->columns);
    Py_VISIT(view->guard);
    return 0;
}

static int view_clear(PyObject *self)
{
    view *view = (void *)self;
    Py_CLEAR(view->query);
    Py_CLEAR(view->pointer);
    Py_CLEAR(view->columns);
    Py_CLEAR(view->guard);
    return 0;
}

static void view_dealloc(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    view_clear(self);
    release(self);
}

static bool check_view(const view *view)
{
    if (view->guard)
        return check((guard *)view->guard);
    PyErr_SetString(shared.expired, "views are made by queries");
    return false;
}

/* Iterating over a view: its columns in the order of the terms. */
static PyObject *view_iterate(PyObject *self)
{
    const view *view = (void *)self;
    if (!check_view(view))
        return NULL;
    columns *columns = (void *)view->columns;
    PyObject *found = PyTuple_New(columns->count);
    for (Py_ssize_t i = 0; found && i < columns->count; ++i) {
        PyObject *column = column_of(view, &columns->terms[i]);
        if (!column || PyTuple_SetItem(found, i, column)) {
            Py_DECREF(found);
            return NULL;
        }
    }
    PyObject *iterator = found ? PyObject_GetIter(found) : NULL;
    Py_XDECREF(found);
    return iterator;
}

/* view._column(number of the term) */
static PyObject *view_column(PyObject *self, PyObject *argument)
{
    const view *view = (void *)self;
    Py_ssize_t number = PyLong_AsSsize_t(argument);
    if (!check_view(view))
        return NULL;
    columns *columns = (void *)view->columns;
    if (number >= 0 && number < columns->count)
        return column_of(view, &columns->terms[number]);
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_IndexError, "the query has no such column");
    return NULL;
}

/* view._move(pointer, address): to a copy of what the loop is about to overwrite. */
static PyObject *view_move(PyObject *self, PyObject *arguments)
{
    view *view = (void *)self;
    PyObject *pointer, *address;
    if (!PyArg_ParseTuple(arguments, "OO:_move", &pointer, &address))
        return NULL;
    mica_view *moved = PyLong_AsVoidPtr(address);
    if (!moved)
        return NULL;
    replace(&view->pointer, pointer);
    view->view = moved;
    return with_reference(Py_None);
}

/* The loop */

static int views_traverse(PyObject *self, visitproc visit, void *arg)
{
    views *views = (void *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(views->query);
    Py_VISIT(views->pointer);
    Py_VISIT(views->columns);
    Py_VISIT(views->guard);
    Py_VISIT(views->at_end);
    Py_VISIT((PyObject *)views->shown);
    return 0;
}

static int views_clear(PyObject *self)
{
    views *views = (void *)self;
    views->has_ended = true;
    Py_CLEAR(views->query);
    Py_CLEAR(views->pointer);
    Py_CLEAR(views->columns);
    Py_CLEAR(views->guard);
    Py_CLEAR(views->at_end);
    Py_CLEAR(views->shown);
    return 0;
}

static void views_dealloc(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    views_clear(self);
    release(self);
}

/* Views(query, pointer of a mica_view, its address, columns, guard, function to call at the end or None) */
static PyObject *views_new(PyTypeObject *type, PyObject *arguments, PyObject *names)
{
    (void)names;
    PyObject *query, *pointer, *address, *columns, *guard, *at_end;
    if (!PyArg_ParseTuple(arguments, "OOOO!O!O:Views", &query, &pointer, &address, columns_type, &columns, guard_type,
                          &guard, &at_end))
        return NULL;
    mica_view *begun = PyLong_AsVoidPtr(address);
    views *made = begun ? allocate(type) : NULL;
    if (!made)
        return NULL;
    made->query = with_reference(query);
    made->pointer = with_reference(pointer);
    made->columns = with_reference(columns);
    made->guard = with_reference(guard);
    made->at_end = with_reference(at_end);
    made->view = begun;
    return (PyObject *)made;
}

/* Lets go of the view of the last turn. The program still refers to it: it gets a copy of what the loop overwrites. */
static bool detach(views *views)
{
    PyObject *done = PyObject_CallMethod((PyObject *)views->shown, "detach", NULL);
    Py_XDECREF(done);
    Py_CLEAR(views->shown);
    return done != NULL;
}

static view *make_view(const views *views)
{
    view *made = allocate((PyTypeObject *)shared.view_class);
    if (made) {
        made->query = with_reference(views->query);
        made->pointer = with_reference(views->pointer);
        made->columns = with_reference(views->columns);
        made->guard = with_reference(views->guard);
        made->view = views->view;
    }
    return made;
}

static PyObject *views_next(PyObject *self)
{
    views *views = (void *)self;
    if (views->has_ended || (views->shown && Py_REFCNT(views->shown) > 1 && !detach(views)))
        return NULL;
    const guard *guard = (void *)views->guard;
    if (!guard->is_open || !guard->life->is_open) {
        views->has_ended = true;
        PyErr_SetString(shared.expired, guard->is_open ? "the world is closed" : "the system has returned");
        return NULL;
    }
    if (!mica_view_next(views->view)) {
        views->has_ended = true;
        Py_CLEAR(views->shown);
        PyObject *done = views->at_end == Py_None ? NULL : PyObject_CallFunctionObjArgs(views->at_end, NULL);
        Py_XDECREF(done);
        return NULL;
    }
    if (!views->shown && !(views->shown = make_view(views)))
        return NULL;
    views->shown->count = views->view->count;
    views->shown->number = views->number++;
    return with_reference(views->shown);
}

/* Arrow streams that refer to the memory of the world */

/* A stream that keeps its query, and so the world, as long as the consumer has it, and ends when the world changes or is closed. */
typedef struct live_stream {
    struct ArrowArrayStream source;
    PyObject *owner, *guard;
} live_stream;

static bool is_alive(const live_stream *live)
{
    PyGILState_STATE state = PyGILState_Ensure();
    bool is_valid = check((guard *)live->guard);
    PyErr_Clear();
    PyGILState_Release(state);
    return is_valid;
}

static int live_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    live_stream *live = stream->private_data;
    return is_alive(live) ? live->source.get_schema(&live->source, out) : EINVAL;
}

static int live_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    live_stream *live = stream->private_data;
    return is_alive(live) ? live->source.get_next(&live->source, out) : EINVAL;
}

static const char *live_error(struct ArrowArrayStream *stream)
{
    live_stream *live = stream->private_data;
    const char *text = live->source.get_last_error(&live->source);
    return text ? text : "the world changed or was closed: the stream refers to its memory";
}

static void live_release(struct ArrowArrayStream *stream)
{
    live_stream *live = stream->private_data;
    PyGILState_STATE state = PyGILState_Ensure();
    live->source.release(&live->source);
    Py_XDECREF(live->owner);
    Py_XDECREF(live->guard);
    free(live);
    stream->release = NULL;
    PyGILState_Release(state);
}

static const char stream_name[] = "arrow_array_stream";

static void live_capsule_free(PyObject *capsule)
{
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, stream_name);
    if (stream && stream->release)
        stream->release(stream);
    free(stream);
}

/* live_arrow(owner, address of a query, since, guard): a capsule with a stream without copies where the layout allows. Returns the number
 * of a mica_result if it can't be made. */
static PyObject *module_live_arrow(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *owner, *address, *guard;
    unsigned long long since;
    if (!PyArg_ParseTuple(arguments, "OOKO!:live_arrow", &owner, &address, &since, guard_type, &guard))
        return NULL;
    mica_query *query = PyLong_AsVoidPtr(address);
    if (!query)
        return NULL;
    live_stream *live = calloc(1, sizeof *live);
    struct ArrowArrayStream *stream = calloc(1, sizeof *stream);
    mica_arrow_def def = {.since = since};
    mica_result result = live && stream ? mica_arrow_stream(query, &def, &live->source) : MICA_ERROR_MEMORY;
    if (result != MICA_OK) {
        free(live);
        free(stream);
        return PyLong_FromLong((long)result);
    }
    live->owner = with_reference(owner);
    live->guard = with_reference(guard);
    *stream = (struct ArrowArrayStream){live_schema, live_next, live_error, live_release, live};
    PyObject *capsule = PyCapsule_New(stream, stream_name, live_capsule_free);
    if (!capsule) {
        live_release(stream);
        free(stream);
    }
    return capsule;
}

/* The module */

static PyObject *module_connect(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *view, *make, *split, *expired;
    if (!PyArg_ParseTuple(arguments, "OOOO:connect", &view, &make, &split, &expired))
        return NULL;
    replace(&shared.view_class, view);
    replace(&shared.make_array, make);
    replace(&shared.split_column, split);
    replace(&shared.expired, expired);
    return with_reference(Py_None);
}

/* The destructors of types have the signature of the limited interface. */
#define SLOT(name, function) {name, (void *)(function)}

static PyTypeObject *make_type(PyObject *module, const char *name, size_t size, unsigned long flags, PyType_Slot *slots)
{
    PyType_Spec spec = {name, (int)size, 0, (unsigned)(Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | flags), slots};
    PyObject *type = PyType_FromSpec(&spec);
    if (!type || PyModule_AddObject(module, strrchr(name, '.') + 1, with_reference(type)))
        return NULL;
    return (PyTypeObject *)type;
}

static bool make_types(PyObject *module)
{
    static PyMethodDef guard_methods[] = {
        {"check", guard_check, METH_NOARGS, "Raises ExpiredError if the arrays are invalid."}, {NULL, NULL, 0, NULL}};
    static PyMemberDef guard_members[] = {
        {"is_open", T_BOOL, offsetof(guard, is_open), 0, "False after a system returned."}, {NULL, 0, 0, 0, NULL}};
    static PyType_Slot guard_slots[] = {SLOT(Py_tp_new, guard_new),
                                        SLOT(Py_tp_traverse, guard_traverse),
                                        SLOT(Py_tp_clear, guard_clear),
                                        SLOT(Py_tp_dealloc, guard_dealloc),
                                        SLOT(Py_tp_methods, guard_methods),
                                        SLOT(Py_tp_members, guard_members),
                                        {0, NULL}};
    static PyType_Slot columns_slots[] = {SLOT(Py_tp_new, columns_new),
                                          SLOT(Py_tp_traverse, columns_traverse),
                                          SLOT(Py_tp_clear, columns_clear),
                                          SLOT(Py_tp_dealloc, columns_dealloc),
                                          {0, NULL}};
    static PyMethodDef view_methods[] = {{"_column", view_column, METH_O, "The column of a term by its number."},
                                         {"_move", view_move, METH_VARARGS, "Moves the view to a copy of its memory."},
                                         {NULL, NULL, 0, NULL}};
    static PyMemberDef view_members[] = {{"count", T_PYSSIZET, offsetof(view, count), READONLY, "The number of rows."},
                                         {"_query", T_OBJECT_EX, offsetof(view, query), READONLY, NULL},
                                         {"_pointer", T_OBJECT_EX, offsetof(view, pointer), READONLY, NULL},
                                         {"_guard", T_OBJECT_EX, offsetof(view, guard), READONLY, NULL},
                                         {NULL, 0, 0, 0, NULL}};
    static PyType_Slot view_slots[] = {SLOT(Py_tp_traverse, view_traverse),
                                       SLOT(Py_tp_clear, view_clear),
                                       SLOT(Py_tp_dealloc, view_dealloc),
                                       SLOT(Py_tp_iter, view_iterate),
                                       SLOT(Py_tp_methods, view_methods),
                                       SLOT(Py_tp_members, view_members),
                                       {0, NULL}};
    static PyType_Slot views_slots[] = {SLOT(Py_tp_new, views_new),
                                        SLOT(Py_tp_traverse, views_traverse),
                                        SLOT(Py_tp_clear, views_clear),
                                        SLOT(Py_tp_dealloc, views_dealloc),
                                        SLOT(Py_tp_iter, PyObject_SelfIter),
                                        SLOT(Py_tp_iternext, views_next),
                                        {0, NULL}};
    guard_type = make_type(module, "mica._views.Guard", sizeof(guard), 0, guard_slots);
    columns_type = make_type(module, "mica._views.Columns", sizeof(columns), 0, columns_slots);
    view_type = make_type(module, "mica._views.ViewBase", sizeof(view), Py_TPFLAGS_BASETYPE, view_slots);
    views_type = make_type(module, "mica._views.Views", sizeof(views), 0, views_slots);
    return guard_type && columns_type && view_type && views_type;
}

PyMODINIT_FUNC PyInit__views(void)
{
    static PyMethodDef methods[] = {
        {"connect", module_connect, METH_VARARGS, "Passes what Python provides."},
        {"live_arrow", module_live_arrow, METH_VARARGS, "A stream over the memory of a world."},
        {NULL, NULL, 0, NULL}};
    static PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                                     "mica._views",
                                     "The loop over the views of a query.",
                                     -1,
                                     methods,
                                     NULL,
                                     NULL,
                                     NULL,
                                     NULL};
    shared.guard_name = PyUnicode_InternFromString("_guard");
    PyObject *module = shared.guard_name ? PyModule_Create(&definition) : NULL;
    if (module && !make_types(module))
        Py_CLEAR(module);
    return module;
}
