/* Mica for C++17: types instead of macros. Header-only; all functions of the C headers work with it.
 *
 *     struct Position { float x, y; };
 *     struct Velocity { float x, y; };
 *     MICA_COMPONENT(Position, x, y)                          in the namespace of the type
 *     MICA_COMPONENT(Velocity, x, y)
 *
 *     mica::world world;
 *     mica_entity ship = world.create(Position{0, 0}, Velocity{1, 2});
 *     world.each([](Position &position, const Velocity &velocity) { position.x += velocity.x; });
 *
 *     world.system("move", [](Position &position, const Velocity &velocity, const mica_frame &frame) {
 *         position.x += velocity.x * frame.dt;
 *     });
 *     world.step(1.0f / 60);
 *
 * The parameters of a function are the terms of its query: T & writes, const T & reads, T * and const T * are optional (nullptr if the
 * entity does not have T; compare the pointer of a tag only with nullptr), mica_entity is the entity, and const mica_frame & the time of
 * the frame. The call is inlined into a loop over arrays. mica::with<T...> and mica::without<T...>, after the function, name what the
 * entity must and must not have:
 *
 *     world.each([](Position &position) { position.y = 0; }, mica::with<Grounded>, mica::without<Flying>);
 *
 * Queries can be about several entities, which have numbers: 0 is the entity that is visited, others begin with 1. mica::edge<R, A, B>,
 * after the function, requires an edge of relation R from A to B. As parameters, mica::along<R, A, B> is the fields of that edge,
 * mica::bound<N> is entity N, and mica::about<N, T> its component, which T writes and const T reads:
 *
 *     enum { PLANET = 1 };
 *     world.each([](Ship &ship, mica::about<PLANET, const Planet> planet) { ship.fuel += planet->fuel; },
 *                mica::edge<DockedTo, 0, PLANET>);
 *
 * Text and arrays of any length that the world owns are mica::text and mica::list<T>: they are hashed, saved and shown.
 *
 *     struct Person { mica::text name; mica::list<float> scores; };
 *     MICA_COMPONENT(Person, name, scores)
 *     person->name.set("Ada");
 *     person->scores.push_back(4.5f);
 *     for (float score : person->scores) ...
 *
 * A component may be any type that can be moved without throwing: Mica uses its constructors and destructor unless it is trivially
 * copyable. Leave fields that own something (std::string, std::vector) out of the description: they are moved and copied with the
 * component, but not hashed or saved. MICA_OPAQUE(T, (void())) describes no fields.
 */
#ifndef MICA_HPP
#define MICA_HPP

#ifndef __cplusplus
#    error "mica/mica.hpp is for C++; include mica/mica.h"
#endif

#include "mica/flow.h"
#include "mica/hierarchy.h"
#include "mica/mica.h"
#include "mica/options.hpp"
#include "mica/partition.h"
#include "mica/relation.h"
#include "mica/value.h"

#include <cstddef>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace mica {

/* Stands for a type in overloads. */
template <class T> struct type_tag {};

namespace detail {
template <class T, class = void> struct is_described : std::false_type {};
template <class T>
struct is_described<T, std::void_t<decltype(mica_type_for(type_tag<T>{}))>> : std::true_type {};
template <class T> inline constexpr bool never = false;

/* The description of a component. */
template <class T> mica_type &description()
{
    static_assert(is_described<T>::value, "this type is no component: write MICA_COMPONENT(T, fields...) or MICA_TAG(T) after "
                                          "it, in its namespace and before its first use");
    if constexpr (is_described<T>::value) {
        return mica_type_for(type_tag<T>{});
    } else {
        static mica_type none = {};
        return none;
    }
}
} // namespace detail

/* The id of a component described with one of the macros below, in the namespace of its type. Threads: any. */
template <class T> mica_component id()
{
    return mica_type_id(&detail::description<std::remove_cv_t<T>>());
}

/* A list of components for the traits `required` and `excludes`: type.required = mica::types<Position, Rotation>(). */
template <class... T> mica_type *const *types()
{
    static mica_type *const list[] = {&mica_type_for(type_tag<T>{})..., nullptr};
    return list;
}

/* Must be there, must not be there: further arguments of each, query and system. */
template <class... T> struct with_t {};
template <class... T> struct without_t {};
template <class... T> inline constexpr with_t<T...> with{};
template <class... T> inline constexpr without_t<T...> without{};

/* Must have been written since the query or system ran last: a further argument of query and system. */
template <class... T> struct changed_t {};
template <class... T> inline constexpr changed_t<T...> changed{};

/* An edge of relation R from one entity of the query to another, by their numbers; 0 is the entity that is visited. */
template <class R, uint32_t From, uint32_t To> struct edge_t {};
template <class R, uint32_t From, uint32_t To> inline constexpr edge_t<R, From, To> edge{};

/* As with and without, for another entity of the query. */
template <uint32_t Number, class... T> struct with_of_t {};
template <uint32_t Number, class... T> struct without_of_t {};
template <uint32_t Number, class... T> inline constexpr with_of_t<Number, T...> with_of{};
template <uint32_t Number, class... T> inline constexpr without_of_t<Number, T...> without_of{};

/* A parameter: a component of another entity of the query. */
template <uint32_t Number, class T> class about {
    static_assert(Number > 0, "0 is the entity that is visited: take a reference to its component");

  public:
    explicit about(T *value) : value_(value) {}
    T &operator*() const { return *value_; }
    T *operator->() const { return value_; }

  private:
    T *value_;
};

/* A parameter: the fields of an edge of relation R from one entity of the query to another, which it requires as mica::edge does. const R
 * reads, R writes. */
template <class R, uint32_t From, uint32_t To> class along {
  public:
    explicit along(R *fields) : fields_(fields) {}
    R &operator*() const { return *fields_; }
    R *operator->() const { return fields_; }

  private:
    R *fields_;
};

/* A parameter: another entity of the query. */
template <uint32_t Number> struct bound {
    static_assert(Number > 0, "0 is the entity that is visited: take a mica_entity");
    mica_entity entity;
    operator mica_entity() const { return entity; }
};

/* A parameter that reads a component and writes it where the function asks for that. Of a component with .track_changed only the
 * entities that were written count as changed; with a parameter T & all do. */
template <class T> class tracked {
  public:
    tracked(T *value, mica_view &view, uint32_t row) : value_(value), view_(&view), row_(row) {}
    const T &operator*() const { return *value_; }
    const T *operator->() const { return value_; }
    /* The value to write; marks the entity as changed. */
    T &write() const
    {
        mica_view_mark_id(view_, id<T>(), row_);
        return *value_;
    }

  private:
    T *value_;
    mica_view *view_;
    uint32_t row_;
};

/* Text of any length in a component: see mica/text.h. Copying a value in C++ does not copy its text; setting a component does.
 * Functions that can run out of memory return false, and leave the text as it was. */
struct text : mica_text {
    /* Valid until the text changes. */
    std::string_view view() const { return {mica_text_get(this), mica_text_length(this)}; }
    operator std::string_view() const { return view(); }
    std::size_t size() const { return mica_text_length(this); }
    bool empty() const { return size() == 0; }
    const char *c_str() const { return mica_text_get(this); }
    bool set(std::string_view characters)
    {
        return mica_text_set_bytes(this, characters.data(), characters.size()) == MICA_OK;
    }
    bool append(std::string_view characters)
    {
        return mica_text_append_bytes(this, characters.data(), characters.size()) == MICA_OK;
    }
    void clear() { mica_text_clear(this); }
};
inline bool operator==(const text &a, std::string_view b)
{
    return a.view() == b;
}
inline bool operator!=(const text &a, std::string_view b)
{
    return a.view() != b;
}

namespace detail {
template <class T> const mica_type &element_type();
}

/* An array of any length in a component: see mica/list.h. Reading is that of a constant span. Lists that others share are copied before
 * they are written, so writing goes through functions of its own, which return nullptr or false if memory runs out; pointers are
 * valid until the list changes. New elements are zero. */
template <class T> struct list : mica_list {
    static_assert(std::is_trivially_copyable_v<T>, "elements of a list are plain values or text");
    using value_type = T;
    using const_iterator = const T *;

    std::size_t size() const { return mica_list_count(this); }
    bool empty() const { return size() == 0; }
    const T *data() const { return static_cast<const T *>(mica_list_items_type(this, &element())); }
    const T *begin() const { return data(); }
    const T *end() const { return data() + size(); }
    const T &operator[](std::size_t position) const { return data()[position]; }

    T *write() { return static_cast<T *>(mica_list_write_type(this, &element())); }
    /* Return the first of the new elements. A position past the end is the end. */
    T *append(std::size_t count = 1) { return insert(UINT32_MAX, count); }
    T *insert(std::size_t position, std::size_t count = 1)
    {
        return static_cast<T *>(mica_list_insert_type(this, &element(), number(position), number(count)));
    }
    bool push_back(const T &value) { return replace(UINT32_MAX, 0, &value, 1); }
    bool remove(std::size_t position, std::size_t count = 1)
    {
        return mica_list_remove_type(this, &element(), number(position), number(count)) == MICA_OK;
    }
    bool resize(std::size_t count) { return mica_list_resize_type(this, &element(), number(count)) == MICA_OK; }
    bool assign(const T *values, std::size_t count) { return replace(0, UINT32_MAX, values, count); }
    bool copy(const list &from) { return mica_list_copy_type(this, &element(), &from) == MICA_OK; }
    void clear() { mica_list_clear_type(this, &element()); }

  private:
    static const mica_type &element() { return detail::element_type<T>(); }
    static uint32_t number(std::size_t value)
    {
        return value < UINT32_MAX ? static_cast<uint32_t>(value) : UINT32_MAX;
    }
    bool replace(std::size_t position, uint32_t removed, const T *values, std::size_t count)
    {
        return mica_list_replace_type(this, &element(), number(position), removed, values, number(count)) == MICA_OK;
    }
};

namespace detail {

template <class T> struct is_list : std::false_type {};
template <class T> struct is_list<list<T>> : std::true_type {};

template <class T> constexpr mica_kind integer_kind()
{
    if constexpr (sizeof(T) == 1)
        return std::is_signed_v<T> ? MICA_KIND_I8 : MICA_KIND_U8;
    else if constexpr (sizeof(T) == 2)
        return std::is_signed_v<T> ? MICA_KIND_I16 : MICA_KIND_U16;
    else if constexpr (sizeof(T) == 4)
        return std::is_signed_v<T> ? MICA_KIND_I32 : MICA_KIND_U32;
    else
        return std::is_signed_v<T> ? MICA_KIND_I64 : MICA_KIND_U64;
}

template <class T> constexpr mica_kind kind_of()
{
    if constexpr (std::is_same_v<T, bool>)
        return MICA_KIND_BOOL;
    else if constexpr (std::is_same_v<T, char>)
        return MICA_KIND_CHAR;
    else if constexpr (std::is_same_v<T, float>)
        return MICA_KIND_F32;
    else if constexpr (std::is_same_v<T, double>)
        return MICA_KIND_F64;
    else if constexpr (std::is_same_v<T, mica_entity>)
        return MICA_KIND_ENTITY;
    else if constexpr (std::is_same_v<T, mica_asset>)
        return MICA_KIND_ASSET;
    else if constexpr (std::is_same_v<T, mica_text> || std::is_same_v<T, text>)
        return MICA_KIND_TEXT;
    else if constexpr (is_list<T>::value)
        return MICA_KIND_LIST;
    else if constexpr (std::is_integral_v<T>)
        return integer_kind<T>();
    else
        return MICA_KIND_NONE;
}

/* The description of the elements of a list: that of their type, or one for their kind. */
template <class T> const mica_type &element_type()
{
    constexpr mica_kind kind = kind_of<T>();
    static_assert(kind != MICA_KIND_LIST, "a list of lists needs a described struct with a list in between");
    static_assert(kind != MICA_KIND_NONE || is_described<T>::value, "the type of these elements has no description");
    if constexpr (kind == MICA_KIND_NONE) {
        return mica_type_for(type_tag<T>{});
    } else {
        static const mica_type type = [] {
            static const char *const names[] = {"",    "bool", "char", "i8",  "u8",  "i16",    "u16", "i32", "u32", "i64",
                                                "u64", "f32",  "f64",  "entity", "",    "",    "",    "asset", "text"};
            mica_type result = {};
            result.name = names[kind];
            result.size_bytes = sizeof(T);
            result.alignment = alignof(T);
            result.kind = kind;
            return result;
        }();
        return type;
    }
}

/* The description of a field; of one with a described type, that type says its kind. */
template <class Member> mica_field field(const char *name, std::size_t offset)
{
    using element = std::remove_all_extents_t<Member>;
    constexpr mica_kind kind = kind_of<element>();
    static_assert(kind != MICA_KIND_NONE || is_described<element>::value,
                  "the type of this field has no description: describe it before, or leave the field out");
    mica_field result = {};
    result.name = name;
    result.offset = static_cast<uint32_t>(offset);
    result.element_bytes = sizeof(element);
    result.count = static_cast<uint32_t>(sizeof(Member) / sizeof(element));
    result.kind = kind;
    if constexpr (kind == MICA_KIND_NONE)
        result.type = &mica_type_for(type_tag<element>{});
    if constexpr (kind == MICA_KIND_LIST)
        result.type = &element_type<typename element::value_type>();
    return result;
}

/* The same with attributes, which `set` assigns; each field has a `set` of its own type. */
template <class Member, class Set> mica_field field_with(const char *name, std::size_t offset, const Set &set)
{
    static const mica_attributes attributes = [&set] {
        mica_attributes result = {};
        set(result);
        return result;
    }();
    mica_field result = field<Member>(name, offset);
    result.attributes = &attributes;
    return result;
}

/* Life of values that own something. An exception on the way undoes what was done and is a false. */
template <class T> struct life {
    static bool construct(void *values, uint32_t count, void *)
    {
        return fill(static_cast<T *>(values), count, [](T *at, uint32_t) { new (at) T(); });
    }
    static bool copy(void *to, const void *from, uint32_t count, void *)
    {
        return fill(static_cast<T *>(to), count,
                    [from](T *at, uint32_t i) { new (at) T(static_cast<const T *>(from)[i]); });
    }
    static void move(void *to, void *from, uint32_t count, void *)
    {
        static_assert(std::is_nothrow_move_constructible_v<T>, "a component must move without throwing");
        for (uint32_t i = 0; i < count; ++i) {
            T *source = static_cast<T *>(from) + i;
            new (static_cast<T *>(to) + i) T(std::move(*source));
            source->~T();
        }
    }
    static void destruct(void *values, uint32_t count, void *)
    {
        for (uint32_t i = 0; i < count; ++i)
            (static_cast<T *>(values) + i)->~T();
    }

  private:
    template <class Make> static bool fill(T *values, uint32_t count, const Make &make)
    {
        uint32_t made = 0;
#ifdef __cpp_exceptions
        try {
            for (; made < count; ++made)
                make(values + made, made);
        } catch (...) {
            destruct(values, made, nullptr);
            return false;
        }
#else
        for (; made < count; ++made)
            make(values + made, made);
#endif
        return true;
    }
};

template <class T> mica_type describe(const char *name, const mica_field *fields, std::size_t count, mica_storage storage)
{
    mica_type type = {};
    type.name = name;
    type.fields = fields;
    type.field_count = static_cast<uint32_t>(count);
    type.size_bytes = sizeof(T);
    type.alignment = alignof(T);
    type.kind = MICA_KIND_STRUCT;
    type.storage = storage;
    if constexpr (!std::is_trivially_default_constructible_v<T>)
        type.construct = life<T>::construct; /* also for the values that its members start with */
    if constexpr (!std::is_trivially_copyable_v<T>) {
        type.construct = life<T>::construct;
        if constexpr (std::is_copy_constructible_v<T>)
            type.copy = life<T>::copy;
        type.move = life<T>::move;
        type.destruct = life<T>::destruct;
    }
    return type;
}

template <class T> mica_type describe_fields(const char *name, mica_storage storage)
{
    std::size_t count = 0;
    const mica_field *fields = mica_fields_for(type_tag<T>{}, &count);
    return describe<T>(name, fields, count, storage);
}

inline mica_type describe_tag(const char *name, mica_storage storage)
{
    mica_type type = {};
    type.name = name;
    type.kind = MICA_KIND_STRUCT;
    type.storage = storage;
    return type;
}

/* A row of the table of a relation: see mica/relation.h. */
template <class T> struct edge {
    T fields;
    mica_entity target;
    uint32_t rank;
};
struct edge_without_fields {
    mica_entity target;
    uint32_t rank;
};

template <class Edge> inline mica_type describe_edge(const char *name, const mica_field *fields, std::size_t count)
{
    static_assert(std::is_trivially_copyable_v<Edge>, "the fields of a relation are copied as bytes, or text and lists");
    mica_type type = describe_tag(name, MICA_STORAGE_POOL);
    type.fields = fields;
    type.field_count = static_cast<uint32_t>(count);
    type.size_bytes = sizeof(Edge);
    type.alignment = alignof(Edge);
    type.many = type.relation = true;
    return type;
}

/* What a parameter of a function asks for. */
template <class Parameter> struct parameter {
    static_assert(never<Parameter>, "a parameter of a query or system is T &, const T &, T * or const T * of a component T, mica_entity, "
                                    "const mica_frame & (of systems), mica::tracked, mica::about, mica::along or mica::bound; a "
                                    "component is not taken by value");
    static constexpr bool is_term = false;
    static Parameter at(void *, mica_view &, uint32_t);
};
template <class T> struct parameter<T &> {
    static constexpr mica_access access = std::is_const_v<T> ? MICA_ACCESS_READ : MICA_ACCESS_WRITE;
    static constexpr bool is_term = true;
    using component = std::remove_const_t<T>;
    static T &at(void *column, mica_view &, uint32_t row) { return static_cast<T *>(column)[row]; }
};
/* A tag is an incomplete type, or an empty one. */
template <class T, class = void> struct is_tag : std::true_type {};
template <class T> struct is_tag<T, std::void_t<decltype(sizeof(T))>> : std::is_empty<T> {};
template <class T> struct parameter<T *> {
    static constexpr mica_access access =
        std::is_const_v<T> || is_tag<T>::value ? MICA_ACCESS_MAYBE_READ : MICA_ACCESS_MAYBE_WRITE;
    static constexpr bool is_term = true;
    using component = std::remove_const_t<T>;
    static T *at(void *column, mica_view &, uint32_t row)
    {
        if constexpr (is_tag<T>::value) /* its column only says that it is there */
            return static_cast<T *>(column);
        else
            return column ? static_cast<T *>(column) + row : nullptr;
    }
};
template <class T> struct parameter<tracked<T>> {
    static constexpr mica_access access = MICA_ACCESS_WRITE;
    static constexpr bool is_term = true;
    using component = T;
    static tracked<T> at(void *column, mica_view &view, uint32_t row) { return {static_cast<T *>(column) + row, view, row}; }
};
template <class Parameter> struct is_tracked : std::false_type {};
template <class T> struct is_tracked<tracked<T>> : std::true_type {};
template <uint32_t Number, class T> struct parameter<about<Number, T>> {
    static constexpr mica_access access = std::is_const_v<T> ? MICA_ACCESS_READ : MICA_ACCESS_WRITE;
    static constexpr bool is_term = true;
    static constexpr uint32_t subject = Number;
    using component = std::remove_const_t<T>;
    static about<Number, T> at(void *column, mica_view &, uint32_t) { return about<Number, T>(static_cast<T *>(column)); }
};
template <class R, uint32_t From, uint32_t To> struct parameter<along<R, From, To>> {
    static constexpr mica_access access = std::is_const_v<R> ? MICA_ACCESS_READ : MICA_ACCESS_WRITE;
    static constexpr bool is_term = true;
    static constexpr uint32_t subject = From;
    static constexpr uint32_t target = To;
    using component = std::remove_const_t<R>;
    static along<R, From, To> at(void *column, mica_view &, uint32_t)
    {
        return along<R, From, To>(static_cast<R *>(column));
    }
};
template <uint32_t Number> struct parameter<bound<Number>> {
    static constexpr bool is_term = false;
    static bound<Number> at(void *, mica_view &view, uint32_t) { return {mica_view_variable(&view, Number)}; }
};
template <class Parameter, class = void> struct subject_of : std::integral_constant<uint32_t, 0> {};
template <class Parameter>
struct subject_of<Parameter, std::void_t<decltype(parameter<Parameter>::subject)>>
    : std::integral_constant<uint32_t, parameter<Parameter>::subject> {};
template <> struct parameter<mica_entity> {
    static constexpr bool is_term = false;
    static mica_entity at(void *, mica_view &view, uint32_t row) { return view.entities[row]; }
};
template <> struct parameter<const mica_frame &> {
    static constexpr bool is_term = false;
    static const mica_frame &at(void *, mica_view &view, uint32_t) { return *view.frame; }
};

template <class Function, class = void> struct has_one_call : std::false_type {};
template <class Function> struct has_one_call<Function, std::void_t<decltype(&Function::operator())>> : std::true_type {};
struct no_call {
    void operator()() {}
};
template <class Function> constexpr bool check_call()
{
    static_assert(has_one_call<Function>::value, "this is no function with one list of parameters: a lambda must name the type of each "
                                                 "parameter, without auto, and operator() must not be overloaded");
    return has_one_call<Function>::value;
}
template <class Function>
struct signature
    : signature<decltype(&std::conditional_t<check_call<Function>(), Function, no_call>::operator())> {};
template <class Result, class... P> struct signature<Result (*)(P...)> {
    using parameters = std::tuple<P...>;
};
template <class Class, class Result, class... P> struct signature<Result (Class::*)(P...)> {
    using parameters = std::tuple<P...>;
};
template <class Class, class Result, class... P> struct signature<Result (Class::*)(P...) const> {
    using parameters = std::tuple<P...>;
};

template <class... P> constexpr bool takes_frame(const std::tuple<P...> *)
{
    return (std::is_same_v<P, const mica_frame &> || ...);
}

inline mica_node node(uint32_t number)
{
    return number ? mica_variable(number) : mica_this();
}
inline mica_term term(mica_component component, mica_access access, uint32_t subject = 0)
{
    mica_term result = {};
    result.component = component;
    result.access = access;
    if (subject)
        result.subject = node(subject);
    return result;
}
template <class Parameter, class = void> struct has_target : std::false_type {};
template <class Parameter>
struct has_target<Parameter, std::void_t<decltype(parameter<Parameter>::target)>> : std::true_type {};
template <class Parameter> void append_term(std::vector<mica_term> &terms)
{
    if constexpr (parameter<Parameter>::is_term)
        terms.push_back(term(id<typename parameter<Parameter>::component>(), parameter<Parameter>::access,
                             subject_of<Parameter>::value));
    if constexpr (has_target<Parameter>::value)
        terms.back().target = node(parameter<Parameter>::target);
}
template <class R, uint32_t From, uint32_t To> void append_filter(std::vector<mica_term> &terms, edge_t<R, From, To>)
{
    mica_term along = term(id<R>(), MICA_ACCESS_HAS, From);
    along.target = node(To);
    terms.push_back(along);
}
template <uint32_t Number, class... T> void append_filter(std::vector<mica_term> &terms, with_of_t<Number, T...>)
{
    (terms.push_back(term(id<T>(), MICA_ACCESS_HAS, Number)), ...);
}
template <uint32_t Number, class... T> void append_filter(std::vector<mica_term> &terms, without_of_t<Number, T...>)
{
    (terms.push_back(term(id<T>(), MICA_ACCESS_WITHOUT, Number)), ...);
}
template <class... T> void append_filter(std::vector<mica_term> &terms, with_t<T...>)
{
    (terms.push_back(term(id<T>(), MICA_ACCESS_HAS)), ...);
}
template <class... T> void append_filter(std::vector<mica_term> &terms, without_t<T...>)
{
    (terms.push_back(term(id<T>(), MICA_ACCESS_WITHOUT)), ...);
}
template <class... T> void append_filter(std::vector<mica_term> &terms, changed_t<T...>)
{
    (terms.push_back(term(id<T>(), MICA_ACCESS_CHANGED)), ...);
}
template <class... P> void append_terms(std::vector<mica_term> &terms, const std::tuple<P...> *)
{
    (append_term<P>(terms), ...);
}
template <class T, class = void> struct is_filter : std::false_type {};
template <class T>
struct is_filter<T, std::void_t<decltype(append_filter(std::declval<std::vector<mica_term> &>(), std::declval<T>()))>>
    : std::true_type {};
template <class T, class = void> struct is_option : std::false_type {};
template <class T>
struct is_option<T, std::void_t<decltype(std::declval<const T &>().apply(std::declval<options &>()))>> : std::true_type {};

/* The caller of the further arguments. */
enum class caller { system, query, observer, index };

/* Adds a filter or an option. */
template <caller By, class T> void apply(options &all, const T &argument)
{
    if constexpr (is_filter<T>::value && By != caller::index) {
        append_filter(all.terms, argument);
    } else if constexpr (is_option<T>::value) {
        constexpr bool fits = By == caller::system  ? T::for_systems
                              : By == caller::query ? T::for_queries
                              : By == caller::index ? T::for_indexes
                                                    : T::for_observers;
        static_assert(fits, "this option is for something else: see mica/options.hpp for those of systems, queries, observers and indexes");
        argument.apply(all);
    } else {
        static_assert(never<T>, "this further argument is neither a filter (mica::with, mica::without, mica::changed, mica::edge, ...) nor "
                                "an option (see mica/options.hpp)");
    }
}

/* Whether a system is called once per run. */
template <class... Argument> constexpr bool runs_once()
{
    return (std::is_same_v<Argument, once_t> || ...)
           || (std::is_same_v<Argument, system_flag<&mica_system_def::exclusive>> || ...);
}
template <class... P> constexpr bool takes_only_frame(const std::tuple<P...> *)
{
    return sizeof...(P) == 1 && (std::is_same_v<P, const mica_frame &> && ...);
}

/* Calls the function of an observer: for the event, or for each of its entities. T is the component, or void. */
template <class T, class Function, class... P> void call_observer(const mica_event &event, Function &function, const std::tuple<P...> *)
{
    using parameters = std::tuple<P...>;
    constexpr bool is_whole = std::is_same_v<parameters, std::tuple<const mica_event &>>;
    constexpr bool is_entity = std::is_same_v<parameters, std::tuple<mica_entity>>;
    constexpr bool is_edge = std::is_same_v<parameters, std::tuple<mica_entity, mica_entity>>;
    constexpr bool is_value = std::is_same_v<parameters, std::tuple<mica_entity, T &>>
                              || std::is_same_v<parameters, std::tuple<mica_entity, const T &>>;
    static_assert(is_whole || is_entity || is_edge || is_value,
                  "the function of an observer takes (const mica_event &), (mica_entity), (mica_entity, T &) with the component, or "
                  "(mica_entity source, mica_entity target) of a relation");
    if constexpr (is_whole) {
        function(event);
    } else {
        for (uint32_t i = 0; i < event.count; ++i) {
            if constexpr (is_entity)
                function(event.entities[i]);
            else if constexpr (is_edge)
                function(event.entities[i], event.target);
            else if constexpr (is_value)
                function(event.entities[i],
                         *reinterpret_cast<T *>(static_cast<char *>(event.values) + i * description<T>().size_bytes));
        }
    }
}

/* Whether the function of an observer takes the value of a component. */
template <class... P> constexpr bool takes_value(const std::tuple<P...> *)
{
    return sizeof...(P) == 2 && !(std::is_same_v<P, mica_entity> && ...);
}

/* What stands for the component in an observer without one. */
struct no_component;

/* The kind of a user event, from its type. */
template <class T, class = void> struct has_event : std::false_type {};
template <class T> struct has_event<T, std::void_t<decltype(T::event)>> : std::true_type {};
template <class T> constexpr mica_event_kind event_of()
{
    static_assert(has_event<T>::value, "the type of a user event has a member that says its kind: "
                                       "static constexpr int event = MICA_EVENT_USER; and + 1, + 2 for others");
    if constexpr (has_event<T>::value) {
        static_assert(static_cast<int>(T::event) >= static_cast<int>(MICA_EVENT_USER), "user events begin with MICA_EVENT_USER");
        return static_cast<mica_event_kind>(T::event);
    } else {
        return static_cast<mica_event_kind>(MICA_EVENT_USER);
    }
}
template <class E, class Function, class... P> void call_listener(const mica_event &event, Function &function, const std::tuple<P...> *)
{
    using parameters = std::tuple<P...>;
    constexpr bool is_whole = std::is_same_v<parameters, std::tuple<const mica_event &>>;
    constexpr bool is_data = std::is_same_v<parameters, std::tuple<const E &>>;
    constexpr bool is_both = std::is_same_v<parameters, std::tuple<mica_entity, const E &>>;
    static_assert(is_whole || is_data || is_both, "the function for a user event E takes (mica_entity, const E &), (const E &) or "
                                                  "(const mica_event &)");
    if (!is_whole && !event.data)
        return; /* it was sent without data */
    if constexpr (is_whole)
        function(event);
    else if constexpr (is_data)
        function(*static_cast<const E *>(event.data));
    else if constexpr (is_both)
        function(event.count ? event.entities[0] : mica_nil(), *static_cast<const E *>(event.data));
}

/* The component and the type of a member, from a pointer to it. */
template <class T> struct member;
template <class Class, class Type> struct member<Type Class::*> {
    using component = Class;
    using type = Type;
};
/* The name that the description gives a member; nullptr if it does not have it. */
template <auto Member> const char *name_of_member()
{
    using component = typename member<decltype(Member)>::component;
    const mica_type &type = description<component>();
    alignas(component) static const unsigned char bytes[sizeof(component)] = {};
    const component *value = reinterpret_cast<const component *>(bytes);
    auto offset = reinterpret_cast<const unsigned char *>(&(value->*Member)) - bytes;
    for (uint32_t i = 0; i < type.field_count; ++i)
        if (type.fields[i].offset == static_cast<uint32_t>(offset))
            return type.fields[i].name;
    return nullptr;
}

/* The column of a parameter in this view, stamped as written where it asks for that; nullptr where it asks for none. */
template <class Parameter> void *column_of(mica_view &view, uint32_t &next_term)
{
    if constexpr (parameter<Parameter>::is_term) {
        uint32_t term = next_term++;
        constexpr mica_access access = parameter<Parameter>::access;
        if constexpr (is_tracked<Parameter>::value)
            return mica_view_write_unmarked_id(&view, id<typename parameter<Parameter>::component>());
        else if constexpr (access == MICA_ACCESS_WRITE || access == MICA_ACCESS_MAYBE_WRITE)
            return mica_view_write_at(&view, term);
        else
            return const_cast<void *>(mica_view_read_at(&view, term));
    } else {
        (void)view, (void)next_term;
        return nullptr;
    }
}

/* Whether a parameter is one value for all rows. */
template <class Parameter> bool is_single()
{
    if constexpr (parameter<Parameter>::is_term)
        return description<typename parameter<Parameter>::component>().storage == MICA_STORAGE_SINGLETON;
    else
        return false;
}

template <class Function, class... P, std::size_t... I>
void call_for_rows(mica_view &view, Function &function, const std::tuple<P...> *, std::index_sequence<I...>)
{
    uint32_t next_term = 0;
    void *const columns[sizeof...(P) + 1] = {column_of<P>(view, next_term)..., nullptr}; /* from left to right */
    const bool singles[sizeof...(P) + 1] = {is_single<P>()..., false};
    if ((singles[I] || ...)) {
        for (uint32_t row = 0, count = view.count; row < count; ++row)
            function(parameter<P>::at(columns[I], view, singles[I] ? 0 : row)...);
        return;
    }
    for (uint32_t row = 0, count = view.count; row < count; ++row)
        function(parameter<P>::at(columns[I], view, row)...);
}
template <class Function> void call_for_rows(mica_view &view, Function &function)
{
    using parameters = typename signature<Function>::parameters;
    call_for_rows(view, function, static_cast<const parameters *>(nullptr),
                  std::make_index_sequence<std::tuple_size_v<parameters>>{});
}

struct world_deleter {
    void operator()(mica_world *world) const { mica_world_destroy(world); }
};
struct query_deleter {
    void operator()(mica_query *query) const { mica_query_destroy(query); }
};

} // namespace detail

/* A query and what it calls. It must go before its world does. */
template <class Function> class query {
  public:
    query(mica_query *made, Function function, std::vector<std::shared_ptr<void>> kept = {})
        : kept_(std::move(kept)), query_(made), function_(std::move(function))
    {
    }

    /* Calls the function for every entity that matches. Threads: as mica_query_begin. */
    void run()
    {
        if (query_)
            for (mica_view view = mica_query_begin(query_.get()); mica_view_next(&view);)
                detail::call_for_rows(view, function_);
    }
    uint64_t count() const { return query_ ? mica_query_count(query_.get()) : 0; }
    mica_query *get() const { return query_.get(); }
    explicit operator bool() const { return query_ != nullptr; }

  private:
    std::vector<std::shared_ptr<void>> kept_; /* what compares rows; destroyed after the query */
    std::unique_ptr<mica_query, detail::query_deleter> query_;
    Function function_;
};

namespace detail {

/* A value that the world copies. */
template <class T> mica_value value_of(const T &value)
{
    static_assert(std::is_copy_constructible_v<T>, "a component that cannot be copied is added, and filled then: "
                                                   "*world.add<T>(entity) = std::move(value)");
    return {id<T>(), sizeof(T), &value};
}

} // namespace detail

/* An index of one field, or a grid: see mica/index.h. It belongs to its world. Threads: as the functions there. */
class index {
  public:
    explicit index(mica_index *made = nullptr) : index_(made) {}

    mica_result update() { return mica_index_update(index_); }
    mica_result refresh(mica_entity entity) { return mica_index_refresh(index_, entity); }
    uint32_t size() const { return mica_index_entity_count(index_); }
    template <class T> mica_entity find(T value) const { return mica_find_by(index_, key_of(value)); }
    /* Calls the function with each entity that has a value from low to high, in order. */
    template <class T, class Function> void range(T low, T high, Function &&function) const
    {
        for (mica_match match = mica_index_range(index_, key_of(low), key_of(high)); mica_match_next(&match);)
            function(match.entity);
    }
    /* Calls the function with each partition, a mica_partition &, by rising value. */
    template <class Function> void partitions(Function &&function) const
    {
        for (mica_partition part = mica_partitions_by_index(index_, {}, {}); mica_partition_next(&part);)
            function(part);
    }
    /* Finds the entities within a radius of a point of a grid. The vector allocates; mica_grid_within(get(), ...) writes to an array. */
    std::vector<mica_neighbour> within(mica_point centre, double radius) const
    {
        std::vector<mica_neighbour> found(mica_grid_within(index_, centre, radius, nullptr, 0));
        mica_grid_within(index_, centre, radius, found.data(), static_cast<uint32_t>(found.size()));
        return found;
    }
    /* Find the entities within a radius of an entity of a grid, except itself; and those nearest to a point, at most `most`. */
    std::vector<mica_neighbour> around(mica_entity entity, double radius) const
    {
        std::vector<mica_neighbour> found(mica_grid_around(index_, entity, radius, nullptr, 0));
        mica_grid_around(index_, entity, radius, found.data(), static_cast<uint32_t>(found.size()));
        return found;
    }
    std::vector<mica_neighbour> nearest(mica_point centre, uint32_t most) const
    {
        std::vector<mica_neighbour> found(most);
        found.resize(mica_grid_nearest(index_, centre, found.data(), most));
        return found;
    }
    /* Calls function(mica_entity, const mica_neighbour *, uint32_t count) for every entity of a grid, on all workers: see mica_grid_each.
     * Threads: owner. What the function captures is shared by all workers. */
    template <class Function> mica_result each_near(double radius, Function &&function, bool pairs = false) const
    {
        mica_grid_loop loop = {};
        loop.radius = radius;
        loop.pairs = pairs;
        loop.context = &function;
        loop.fn = [](mica_entity entity, const mica_neighbour *neighbours, uint32_t count, void *context) {
            (*static_cast<std::remove_reference_t<Function> *>(context))(entity, neighbours, count);
        };
        return mica_grid_each(index_, &loop);
    }
    mica_index *get() const { return index_; }
    operator mica_index *() const { return index_; } /* so that functions of C take it */
    explicit operator bool() const { return index_ != nullptr; }

    /* The key of a number, constant, entity or text, which ends with a zero byte and is not copied. */
    template <class T> static mica_key key_of(T value)
    {
        if constexpr (std::is_same_v<T, mica_entity>)
            return mica_key_entity(value);
        else if constexpr (std::is_convertible_v<T, const char *>)
            return mica_key_text(value);
        else if constexpr (std::is_floating_point_v<T>)
            return mica_key_real(static_cast<double>(value));
        else if constexpr (std::is_unsigned_v<T> && sizeof(T) == sizeof(uint64_t))
            return mica_key_natural(value);
        else
            return mica_key_integer(static_cast<int64_t>(value));
    }

  private:
    mica_index *index_;
};

inline uses::uses(const mica::index &index) : use{0, nullptr, false, index.get()} {}

/* The other ends of the edges of an entity, for a loop that changes no edges of the relation. */
class edges {
public:
    struct end_of_edges {};
    class iterator {
    public:
        explicit iterator(const mica_edges &begin) : at_(begin), more_(mica_edge_next(&at_)) {}
        mica_entity operator*() const { return at_.entity; }
        iterator &operator++()
        {
            more_ = mica_edge_next(&at_);
            return *this;
        }
        bool operator!=(end_of_edges) const { return more_; }

    private:
        mica_edges at_;
        bool more_;
    };

    edges(const mica_edges &begin) : begin_(begin) {}
    iterator begin() const { return iterator(begin_); }
    end_of_edges end() const { return {}; }

private:
    mica_edges begin_;
};

class world {
    template <class Function> using parameters_of = const typename detail::signature<Function>::parameters;

  public:
    /* Throws std::bad_alloc when memory is short; without exceptions, get() is nullptr then. */
    explicit world(const mica_world_def *def = nullptr) : world_(mica_world_create(def))
    {
#ifdef __cpp_exceptions
        if (!world_)
            throw std::bad_alloc();
#endif
    }

    mica_world *get() const { return world_.get(); }
    operator mica_world *() const { return world_.get(); }

    /* Creates an entity with these components, which are copied. Nil when it can't. */
    template <class... T> mica_entity create(const T &...values)
    {
        const mica_value list[sizeof...(T) + 1] = {detail::value_of(values)..., {0, 0, nullptr}};
        return mica_create_id(get(), list, sizeof...(T));
    }
    bool destroy(mica_entity entity) { return mica_destroy(get(), entity); }
    /* Creates an index of these fields of T; the other fields of the def are those of mica/index.h. False if it can't. */
    template <class T> mica::index index(const char *fields, mica_index_def def = {})
    {
        def.component = id<T>();
        def.fields = fields;
        return mica::index(mica_index_create(get(), &def));
    }
    /* An index of a described member: world.index<&Item::owner>(mica::hashed). */
    template <auto Member, class... Option> mica::index index(Option... option)
    {
        detail::options all;
        (detail::apply<detail::caller::index>(all, option), ...);
        return index<typename detail::member<decltype(Member)>::component>(detail::name_of_member<Member>(), all.index_def);
    }
    /* A grid of two or three described members: world.grid<&Position::x, &Position::y>(5, {0, 0}, {100, 100}, mica::torus). Members of
     * members are named by text: world.grid<Body>("place.x, place.y", 5, {0, 0}, {100, 100}). */
    template <class T, class... Option>
    mica::index grid(const char *fields, double cell_size, point minimum, point maximum, Option... option)
    {
        detail::options all;
        (detail::apply<detail::caller::index>(all, option), ...);
        mica_index_def &def = all.index_def;
        const double low[] = {minimum.x, minimum.y, minimum.z}, high[] = {maximum.x, maximum.y, maximum.z};
        def.cell_size = cell_size;
        for (int i = 0; i < 3; ++i) {
            def.minimum[i] = low[i];
            def.maximum[i] = high[i];
        }
        return index<T>(fields, def);
    }
    template <auto First, auto... Other, class... Option>
    mica::index grid(double cell_size, point minimum, point maximum, Option... option)
    {
        using component = typename detail::member<decltype(First)>::component;
        static_assert(sizeof...(Other) == 1 || sizeof...(Other) == 2, "a grid has two or three fields");
        static_assert((std::is_same_v<typename detail::member<decltype(Other)>::component, component> && ...),
                      "the fields of a grid are of one component");
        const char *names[] = {detail::name_of_member<First>(), detail::name_of_member<Other>()...};
        std::string fields;
        for (const char *name : names)
            fields += (fields.empty() ? "" : ", ") + std::string(name ? name : "?");
        return grid<component>(fields.c_str(), cell_size, minimum, maximum, option...);
    }
    bool is_alive(mica_entity entity) const { return mica_is_alive(get(), entity); }

    /* As mica_get, mica_write, mica_set, mica_add, mica_remove, mica_has, mica_singleton_get and mica_singleton_write. */
    template <class T> const T *read(mica_entity entity) const
    {
        return static_cast<const T *>(mica_lookup_get(get(), entity, &detail::description<std::remove_cv_t<T>>()));
    }
    /* Several components of one entity: auto [position, speed] = world.read_several<Position, Speed>(entity). Each is nullptr if
     * the entity does not have it. */
    template <class... T> std::tuple<const T *...> read_several(mica_entity entity) const
    {
        return {read<T>(entity)...};
    }
    template <class T> T *write(mica_entity entity)
    {
        return static_cast<T *>(mica_lookup_write(get(), entity, &detail::description<std::remove_cv_t<T>>()));
    }
    template <class T> bool set(mica_entity entity, const T &value)
    {
        return mica_set_id(get(), entity, detail::value_of(value));
    }
    template <class T> T *add(mica_entity entity)
    {
        return static_cast<T *>(mica_add_id(get(), entity, id<T>()));
    }
    /* One more instance of a pool component with .many. */
    template <class T> T *add_instance(mica_entity entity)
    {
        return static_cast<T *>(mica_add_instance_id(get(), entity, id<T>()));
    }
    /* Relations: for (mica_entity target : world.targets<Likes>(alice)). See mica/relation.h for what the functions return. */
    template <class T> T *relate(mica_entity source, mica_entity target)
    {
        return static_cast<T *>(mica_relate_id(get(), source, id<T>(), target));
    }
    template <class T> bool relate(mica_entity source, mica_entity target, const T &fields)
    {
        return mica_relate_with_id(get(), source, mica_value{id<T>(), sizeof(T), &fields}, target);
    }
    template <class T> bool unrelate(mica_entity source, mica_entity target)
    {
        return mica_unrelate_id(get(), source, id<T>(), target);
    }
    template <class T> bool is_related(mica_entity source, mica_entity target) const
    {
        return mica_is_related_id(get(), source, id<T>(), target);
    }
    template <class T> const T *read_edge(mica_entity source, mica_entity target) const
    {
        return static_cast<const T *>(mica_edge_get_id(get(), source, id<T>(), target));
    }
    template <class T> T *write_edge(mica_entity source, mica_entity target)
    {
        return static_cast<T *>(mica_edge_write_id(get(), source, id<T>(), target));
    }
    template <class T> mica_entity target(mica_entity source) const { return mica_target_id(get(), source, id<T>()); }
    template <class T> edges targets(mica_entity source) const { return {mica_targets_id(get(), source, id<T>())}; }
    template <class T> edges sources(mica_entity target) const { return {mica_sources_id(get(), target, id<T>())}; }
    /* Calls the function with each target and its sources, a mica_partition &. */
    template <class T, class Function> void partitions(Function &&function) const
    {
        for (mica_partition part = mica_partitions_by_target_id(get(), id<T>()); mica_partition_next(&part);)
            function(part);
    }

    template <class T> bool remove(mica_entity entity) { return mica_remove_id(get(), entity, id<T>()); }
    template <class T> bool has(mica_entity entity) const
    {
        return mica_lookup_has(get(), entity, &detail::description<std::remove_cv_t<T>>());
    }
    template <class T> const T *read_the() { return static_cast<const T *>(mica_singleton_get_id(get(), id<T>())); }
    template <class T> T *write_the() { return static_cast<T *>(mica_singleton_write_id(get(), id<T>())); }

    /* Makes a query that calls the function when it runs. One that can't be made reports why, and matches nothing. */
    template <class Function, class... Option> mica::query<Function> query(Function function, Option... option)
    {
        static_assert(!detail::takes_frame(static_cast<parameters_of<Function> *>(nullptr)),
                      "only a system has a frame: leave the parameter const mica_frame & out");
        detail::options all = options_for<Function, detail::caller::query>(mica_system_def{}, option...);
        mica_query_def def = {};
        def.terms = all.terms.data();
        def.term_count = static_cast<uint32_t>(all.terms.size());
        def.order_by = all.def.order_by;
        def.compare = all.def.compare;
        def.context = all.def.compare_context;
        def.with_hidden = all.def.with_hidden;
        return {mica_query_create(get(), &def), std::move(function), std::move(all.kept)};
    }

    /* Calls the function for every entity that matches, once; in a loop, keep a query instead. */
    template <class Function, class... Filter> void each(Function function, Filter... filter)
    {
        query(std::move(function), filter...).run();
    }

    /* Adds a system that calls the function, in parallel where that is worth it: what it captures is shared by all workers.
     * Zero with a report when it can't. Filters and options (mica/options.hpp) follow; a mica_system_def before the name is what the
     * options begin with. */
    template <class Function, class... Option> mica_system system(const char *name, Function function, Option... option)
    {
        return system(mica_system_def{}, name, std::move(function), option...);
    }
    template <class Function, class... Option>
    mica_system system(const mica_system_def &begin, const char *name, Function function, Option... option)
    {
        detail::options all = options_for<Function, detail::caller::system>(begin, option...);
        auto kept = std::make_shared<Function>(std::move(function));
        mica_system_def &def = all.def;
        def.name = name;
        def.terms = all.terms.data();
        def.term_count = static_cast<uint32_t>(all.terms.size());
        def.uses = all.uses.data();
        def.use_count = static_cast<uint32_t>(all.uses.size());
        def.context = kept.get();
        if constexpr (detail::runs_once<Option...>()) {
            constexpr bool takes_only_frame = detail::takes_only_frame(static_cast<parameters_of<Function> *>(nullptr));
            static_assert(takes_only_frame, "the function of a system with mica::once or mica::exclusive takes nothing but "
                                            "const mica_frame &");
            if constexpr (takes_only_frame)
                def.once = [](const mica_frame *frame) { (*static_cast<Function *>(frame->context))(*frame); };
        } else {
            def.view = [](mica_view *view) {
                detail::call_for_rows(*view, *static_cast<Function *>(view->frame->context));
            };
        }
        mica_system added = mica_system_add(get(), &def);
        if (added.id) {
            functions_.push_back(std::move(kept));
            functions_.insert(functions_.end(), all.kept.begin(), all.kept.end());
        }
        return added;
    }

    /* Adds an observer that calls function(const mica_event &): one event of T, for entities that pass the filter, or what a
     * mica_observer_def says otherwise. Zero with a report when it can't. */
    template <class T, class Function, class... Filter>
    mica_observer observe(mica_event_kind event, Function function, Filter... filter)
    {
        mica_observer_def def = {};
        def.event = event;
        def.component = id<T>();
        return observe(def, std::move(function), filter...);
    }
    template <class Function, class... Filter>
    mica_observer observe(mica_observer_def def, Function function, Filter... filter)
    {
        return add_observer(
            def, std::move(function), [](const mica_event *event) { (*static_cast<Function *>(event->context))(*event); }, filter...);
    }

    /* Adds an observer of one event of T. The function takes (mica_entity) or (mica_entity, T &) and is called for each entity, or
     * (const mica_event &), or (mica_entity source, mica_entity target) of a relation. Filters follow, and mica::existing. Zero with a
     * report when it can't, and zero if the function takes a T & that is a tag or is split. */
    template <class T, class Function, class... Option> mica_observer on_add(Function function, Option... option)
    {
        return on_event<T>(MICA_EVENT_ADD, std::move(function), option...);
    }
    template <class T, class Function, class... Option> mica_observer on_set(Function function, Option... option)
    {
        return on_event<T>(MICA_EVENT_SET, std::move(function), option...);
    }
    template <class T, class Function, class... Option> mica_observer on_remove(Function function, Option... option)
    {
        return on_event<T>(MICA_EVENT_REMOVE, std::move(function), option...);
    }
    template <class T, class Function, class... Option> mica_observer on_enable(Function function, Option... option)
    {
        return on_event<T>(MICA_EVENT_ENABLE, std::move(function), option...);
    }
    template <class T, class Function, class... Option> mica_observer on_disable(Function function, Option... option)
    {
        return on_event<T>(MICA_EVENT_DISABLE, std::move(function), option...);
    }
    /* The same for entities that are destroyed, and that start and stop to pass the filters. */
    template <class Function, class... Option> mica_observer on_destroy(Function function, Option... option)
    {
        return on_event<detail::no_component>(MICA_EVENT_DESTROY, std::move(function), option...);
    }
    template <class Function, class... Option> mica_observer on_match(Function function, Option... option)
    {
        return on_event<detail::no_component>(MICA_EVENT_MATCH, std::move(function), option...);
    }
    template <class Function, class... Option> mica_observer on_unmatch(Function function, Option... option)
    {
        return on_event<detail::no_component>(MICA_EVENT_UNMATCH, std::move(function), option...);
    }
    /* The same for a user event of type E, which says its kind: struct Hit { static constexpr int event = MICA_EVENT_USER; int points; };
     * The function takes (mica_entity, const E &), (const E &) or (const mica_event &). */
    template <class E, class Function, class... Option> mica_observer on(Function function, Option... option)
    {
        mica_observer_def def = {};
        def.event = detail::event_of<E>();
        return add_observer(
            def, std::move(function),
            [](const mica_event *event) {
                detail::call_listener<E>(*event, *static_cast<Function *>(event->context),
                                         static_cast<parameters_of<Function> *>(nullptr));
            },
            option...);
    }
    /* Adds a monitor: it is told MATCH and UNMATCH of entities that start and stop to pass the filter, and first, if `with_existing`
     * is true, MATCH of those that pass it now. */
    template <class Function, class... Filter> mica_observer monitor(bool with_existing, Function function, Filter... filter)
    {
        static const mica_event_kind events[] = {MICA_EVENT_MATCH, MICA_EVENT_UNMATCH};
        mica_observer_def def = {};
        def.events = events;
        def.event_count = 2;
        def.existing = with_existing;
        return observe(def, std::move(function), filter...);
    }

    /* Send a user event of a type that says its kind, as `on` observes it: see mica_event_emit and mica_event_propagate. */
    template <class E> bool emit(mica_entity entity, const E &event)
    {
        return mica_event_emit(get(), detail::event_of<E>(), 0, entity, event_data(event));
    }
    template <class E> bool propagate(mica_entity entity, const E &event)
    {
        return mica_event_propagate(get(), detail::event_of<E>(), 0, entity, event_data(event));
    }
    /* As mica_event_emit and mica_event_propagate, without a component. The text and lists of data with a description are copied too. */
    bool emit(mica_event_kind event, mica_entity entity) { return mica_event_emit(get(), event, 0, entity, {}); }
    template <class T> bool emit(mica_event_kind event, mica_entity entity, const T &data)
    {
        return mica_event_emit(get(), event, 0, entity, event_data(data));
    }
    bool propagate(mica_event_kind event, mica_entity entity)
    {
        return mica_event_propagate(get(), event, 0, entity, {});
    }
    template <class T> bool propagate(mica_event_kind event, mica_entity entity, const T &data)
    {
        return mica_event_propagate(get(), event, 0, entity, event_data(data));
    }

    /* Hide an entity from queries, and show it again: see mica/disable.h. With its descendants: returns how many. */
    bool disable(mica_entity entity) { return mica_entity_disable(get(), entity); }
    bool enable(mica_entity entity) { return mica_entity_enable(get(), entity); }
    bool is_disabled(mica_entity entity) const { return mica_entity_is_disabled(get(), entity); }
    uint32_t disable_tree(mica_entity root) { return mica_tree_disable(get(), root); }
    uint32_t enable_tree(mica_entity root) { return mica_tree_enable(get(), root); }

    /* Copy an entity, alone or with its descendants: see mica_clone and mica_clone_tree. */
    mica_entity clone(mica_entity entity) { return mica_clone(get(), entity); }
    mica_entity clone_tree(mica_entity root) { return mica_clone_tree(get(), root); }

    /* An entity as JSON, which is empty if it is not alive, and back: see mica_entity_write_json and mica_entity_parse_json. */
    std::string to_json(mica_entity entity) const
    {
        std::string text(mica_entity_write_json(get(), entity, nullptr, 0), '\0');
        mica_entity_write_json(get(), entity, text.data(), text.size() + 1);
        return text;
    }
    mica_result from_json(mica_entity entity, const char *text, mica_value_error *out_error = nullptr)
    {
        return mica_entity_parse_json(get(), entity, text, out_error);
    }

    /* Runs a frame: see mica_step. */
    mica_result step(float dt) { return mica_step(get(), dt); }
    /* Runs frames in measured time, until stop: see mica_run. */
    mica_result run(const mica_run_def &def = mica_run_def_default()) { return mica_run(get(), &def); }
    void stop() { mica_stop(get()); }
    uint64_t hash() const { return mica_world_hash(get()); }

  private:
    template <class Function, detail::caller By, class... Option>
    static detail::options options_for(const mica_system_def &begin, const Option &...option)
    {
        detail::options all(begin);
        detail::append_terms(all.terms, static_cast<parameters_of<Function> *>(nullptr));
        (detail::apply<By>(all, option), ...);
        return all;
    }

    template <class Function, class... Option>
    mica_observer add_observer(mica_observer_def def, Function function, mica_event_fn call, const Option &...option)
    {
        detail::options all;
        all.terms.assign(def.terms, def.terms + def.term_count);
        (detail::apply<detail::caller::observer>(all, option), ...);
        auto kept = std::make_shared<Function>(std::move(function));
        def.terms = all.terms.data();
        def.term_count = static_cast<uint32_t>(all.terms.size());
        def.existing = def.existing || all.existing;
        def.context = kept.get();
        def.fn = call;
        functions_.push_back(std::move(kept)); /* it may be called at once */
        mica_observer added = mica_observer_add(get(), &def);
        if (!added.id)
            functions_.pop_back();
        return added;
    }

    template <class T, class Function, class... Option>
    mica_observer on_event(mica_event_kind event, Function function, const Option &...option)
    {
        mica_observer_def def = {};
        def.event = event;
        if constexpr (!std::is_same_v<T, detail::no_component>) {
            const mica_type &type = detail::description<T>();
            if (detail::takes_value(static_cast<parameters_of<Function> *>(nullptr)) && (type.split || type.size_bytes == 0))
                return mica_observer{};
            def.component = id<T>();
        }
        return add_observer(
            def, std::move(function),
            [](const mica_event *one) {
                detail::call_observer<T>(*one, *static_cast<Function *>(one->context),
                                         static_cast<parameters_of<Function> *>(nullptr));
            },
            option...);
    }

    template <class T> static mica_value event_data(const T &data)
    {
        static_assert(std::is_trivially_copyable_v<T>, "the data of an event is copied as bytes, or text and lists");
        if constexpr (detail::is_described<T>::value)
            return mica_value{id<T>(), sizeof(T), &data};
        else
            return mica_value{0, sizeof(T), &data};
    }

    std::vector<std::shared_ptr<void>> functions_; /* of systems and observers; destroyed after the world */
    std::unique_ptr<mica_world, detail::world_deleter> world_;
};

} // namespace mica

/* Descriptions, as in mica/describe.h; a field of a described type needs no parentheses, and traits and attributes are assignments:
 *     MICA_COMPONENT_WITH(Shield, (type.toggle = true, type.track_added = true), strength)
 *     MICA_COMPONENT_WITH(Sprite, (type.required = mica::types<Position, Rotation>()), image)
 *     MICA_COMPONENT(Health, (current, attributes.unit = "hp", attributes.maximum = 100), shield)
 * Values that members start with, such as `float current = 100;`, are those that components start with. */
#undef MICA_STRUCT
#undef MICA_COMPONENT
#undef MICA_COMPONENT_WITH
#undef MICA_OPAQUE
#undef MICA_POOL
#undef MICA_POOL_WITH
#undef MICA_SINGLETON
#undef MICA_TAG
#undef MICA_TAG_WITH
#undef MICA_POOL_TAG
#undef MICA_TYPES
#undef MICA_RELATION_1
#undef MICA_RELATION_2
#undef MICA_EDGE_TYPE_1
#undef MICA_EDGE_TYPE_2
#define MICA_STRUCT MICA_COMPONENT
#define MICA_COMPONENT(T, ...) MICA_CPP_TYPE_(T, MICA_STORAGE_CHUNK, (void()), __VA_ARGS__)
#define MICA_COMPONENT_WITH(T, traits, ...) MICA_CPP_TYPE_(T, MICA_STORAGE_CHUNK, traits, __VA_ARGS__)
#define MICA_POOL(T, ...) MICA_CPP_TYPE_(T, MICA_STORAGE_POOL, (void()), __VA_ARGS__)
#define MICA_POOL_WITH(T, traits, ...) MICA_CPP_TYPE_(T, MICA_STORAGE_POOL, traits, __VA_ARGS__)
#define MICA_SINGLETON(T, ...) MICA_CPP_TYPE_(T, MICA_STORAGE_SINGLETON, (void()), __VA_ARGS__)
#define MICA_OPAQUE(T, traits)                                                                                         \
    MICA_CPP_DESCRIBED_(T, ::mica::detail::describe<T>(#T, nullptr, 0, MICA_STORAGE_CHUNK), traits)
#define MICA_TAG(T) MICA_TAG_WITH(T, (void()))
#define MICA_TAG_WITH(T, traits)                                                                                       \
    struct T;                                                                                                          \
    MICA_CPP_DESCRIBED_(T, ::mica::detail::describe_tag(#T, MICA_STORAGE_TAG), traits)
#define MICA_POOL_TAG(T)                                                                                               \
    struct T;                                                                                                          \
    MICA_CPP_DESCRIBED_(T, ::mica::detail::describe_tag(#T, MICA_STORAGE_POOL), (void()))

#define MICA_RELATION_1(T) MICA_EDGE_TYPE_1(T, (void()))
#define MICA_RELATION_2(T, ...) MICA_EDGE_TYPE_2(T, (void()), __VA_ARGS__)
#define MICA_EDGE_TYPE_1(T, traits)                                                                                    \
    struct T;                                                                                                          \
    MICA_CPP_EDGE_(T, ::mica::detail::edge_without_fields, traits, )
#define MICA_EDGE_TYPE_2(T, traits, ...)                                                                               \
    MICA_CPP_EDGE_(T, ::mica::detail::edge<T>, traits, MICA_FOR_EACH_(MICA_CPP_FIELD_, T, __VA_ARGS__))
#define MICA_CPP_EDGE_(T, row, traits, ...)                                                                            \
    inline const mica_field *mica_fields_for(::mica::type_tag<T>, ::std::size_t *out_count)                            \
    {                                                                                                                  \
        using edge_row = row;                                                                                          \
        static const mica_field fields[] = {                                                                           \
            ::mica::detail::field<mica_entity>("target", offsetof(edge_row, target)),                                  \
            ::mica::detail::field<uint32_t>("rank", offsetof(edge_row, rank)), __VA_ARGS__};                           \
        *out_count = sizeof fields / sizeof *fields;                                                                   \
        return fields;                                                                                                 \
    }                                                                                                                  \
    inline mica_type mica_edge_for(::mica::type_tag<T> tag)                                                            \
    {                                                                                                                  \
        ::std::size_t count = 0;                                                                                       \
        const mica_field *fields = mica_fields_for(tag, &count);                                                       \
        return ::mica::detail::describe_edge<row>(#T, fields, count);                                                  \
    }                                                                                                                  \
    MICA_CPP_DESCRIBED_(T, mica_edge_for(::mica::type_tag<T>{}), traits)

#define MICA_CPP_TYPE_(T, storage, traits, ...)                                                                        \
    inline const mica_field *mica_fields_for(::mica::type_tag<T>, ::std::size_t *out_count)                            \
    {                                                                                                                  \
        static const mica_field fields[] = {MICA_FOR_EACH_(MICA_CPP_FIELD_, T, __VA_ARGS__)};                          \
        *out_count = sizeof fields / sizeof *fields;                                                                   \
        return fields;                                                                                                 \
    }                                                                                                                  \
    MICA_CPP_DESCRIBED_(T, ::mica::detail::describe_fields<T>(#T, storage), traits)
#define MICA_CPP_FIELD_(T, entry) MICA_JOIN_(MICA_CPP_FIELD_, MICA_IS_WRAPPED_(entry))(T, entry)
#define MICA_CPP_FIELD_0(T, name) ::mica::detail::field<decltype(T::name)>(#name, offsetof(T, name)),
#define MICA_CPP_FIELD_1(T, entry) MICA_CPP_FIELD_2_(T, MICA_UNWRAP_ entry)
#define MICA_CPP_FIELD_2_(...) MICA_CPP_FIELD_3_(__VA_ARGS__)
#define MICA_CPP_FIELD_3_(T, name, ...)                                                                                \
    ::mica::detail::field_with<decltype(T::name)>(#name, offsetof(T, name),                                            \
                                                  [](mica_attributes &attributes) { __VA_ARGS__; }),
#define MICA_CPP_DESCRIBED_(T, description, traits)                                                                    \
    inline mica_type &mica_type_for(::mica::type_tag<T>)                                                               \
    {                                                                                                                  \
        static mica_type described = [] {                                                                              \
            mica_type type = description;                                                                              \
            static_cast<void>(traits);                                                                                 \
            return type;                                                                                               \
        }();                                                                                                           \
        return described;                                                                                              \
    }

/* See mica/hierarchy.h. */
MICA_RELATION_WITH(mica_child_of, (type.exclusive = true, type.acyclic = true, type.parents = true))

#endif
