/* Options of systems, queries, observers and indexes in C++: further arguments of the functions of mica/mica.hpp, in any order and next to
 * the filters.
 *
 *     world.system("fall", [](Velocity &velocity, const mica_frame &frame) { velocity.y -= 10 * frame.dt; },
 *                  mica::in_phase(MICA_PHASE_FIXED), mica::after("wind"), mica::without<Frozen>);
 *     world.system("spawn", [](const mica_frame &frame) { ... }, mica::once, mica::every_seconds(2));
 *     world.query([](const Position &position) { ... }, mica::sorted_by<Position>(by_x)).run();
 *     mica::index grid = world.grid<&Position::x, &Position::y>(5, {0, 0}, {100, 100}, mica::torus);
 *
 * mica/system.h, mica/query.h and mica/index.h describe what each of them does.
 */
#ifndef MICA_OPTIONS_HPP
#define MICA_OPTIONS_HPP

#include "mica/index.h"
#include "mica/stream.h"
#include "mica/system.h"

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace mica {

template <class T> mica_component id();
class index;

namespace detail {

/* What options and filters add up to. A query and an observer use some of it. */
struct options {
    explicit options(const mica_system_def &begin = mica_system_def{})
        : def(begin), uses(begin.uses, begin.uses + begin.use_count)
    {
    }
    mica_system_def def;
    std::vector<mica_term> terms;
    std::vector<mica_use> uses;
    std::vector<std::shared_ptr<void>> kept; /* functions that live as long as the system or query */
    mica_index_def index_def = {};
    bool existing = false;
};

/* Where an option can be used. */
struct system_option {
    static constexpr bool for_systems = true, for_queries = false, for_observers = false, for_indexes = false;
};
struct query_option {
    static constexpr bool for_systems = true, for_queries = true, for_observers = false, for_indexes = false;
};
struct observer_option {
    static constexpr bool for_systems = false, for_queries = false, for_observers = true, for_indexes = false;
};
struct index_option {
    static constexpr bool for_systems = false, for_queries = false, for_observers = false, for_indexes = true;
};

/* A field of mica_system_def that is true or false. */
template <bool mica_system_def::*Member, class Kind = system_option> struct system_flag : Kind {
    void apply(options &all) const { all.def.*Member = true; }
};
template <bool mica_index_def::*Member> struct index_flag : index_option {
    void apply(options &all) const { all.index_def.*Member = true; }
};

/* Names of other systems. Those beyond MICA_SYSTEM_ORDERS_MAX do not compile. */
template <const char *(mica_system_def::*Member)[MICA_SYSTEM_ORDERS_MAX], std::size_t Count> struct order : system_option {
    static_assert(Count <= MICA_SYSTEM_ORDERS_MAX, "a system has at most 8 names in mica::after, and 8 in mica::before");
    const char *names[Count];
    void apply(options &all) const
    {
        std::size_t place = 0;
        for (const char *name : names) {
            while (place < MICA_SYSTEM_ORDERS_MAX && (all.def.*Member)[place])
                ++place;
            if (place < MICA_SYSTEM_ORDERS_MAX)
                (all.def.*Member)[place] = name;
        }
    }
};

template <bool IsWritten, class... T> struct accesses : system_option {
    void apply(options &all) const { (all.uses.push_back(mica_use{id<T>(), nullptr, IsWritten, nullptr}), ...); }
};

template <class T, class Less> struct sorting : query_option {
    explicit sorting(Less function) : less(std::move(function)) {}
    Less less;
    void apply(options &all) const
    {
        auto kept = std::make_shared<Less>(less);
        all.def.order_by = id<T>();
        all.def.compare_context = kept.get();
        all.def.compare = [](const void *a, const void *b, void *context) {
            Less &is_less = *static_cast<Less *>(context);
            const T &first = *static_cast<const T *>(a), &second = *static_cast<const T *>(b);
            return is_less(first, second) ? -1 : is_less(second, first) ? 1 : 0;
        };
        all.kept.push_back(std::move(kept));
    }
};

} // namespace detail

/* The phase of a system. */
struct in_phase : detail::system_option {
    explicit in_phase(mica_phase wanted) : phase(wanted) {}
    mica_phase phase;
    void apply(detail::options &all) const { all.def.phase = phase; }
};

/* Names of systems in the same phase. The texts must live until the call returns. */
template <class... Name> detail::order<&mica_system_def::before, sizeof...(Name)> before(Name... names)
{
    return {{}, {names...}};
}
template <class... Name> detail::order<&mica_system_def::after, sizeof...(Name)> after(Name... names)
{
    return {{}, {names...}};
}

/* Runs every n-th run of its phase, or when this much time has passed. */
struct every_frames : detail::system_option {
    explicit every_frames(uint32_t wanted) : count(wanted) {}
    uint32_t count;
    void apply(detail::options &all) const { all.def.every_frames = count; }
};
struct every_seconds : detail::system_option {
    explicit every_seconds(double wanted) : seconds(wanted) {}
    double seconds;
    void apply(detail::options &all) const { all.def.every_seconds = seconds; }
};

/* Runs only when this function returns true. It can't capture: its frame has what it needs. */
struct when : detail::system_option {
    explicit when(mica_condition_fn wanted) : condition(wanted) {}
    mica_condition_fn condition;
    void apply(detail::options &all) const { all.def.condition = condition; }
};

/* Of systems that are ready, the one with the highest priority starts first. */
struct priority : detail::system_option {
    explicit priority(int32_t wanted) : value(wanted) {}
    int32_t value;
    void apply(detail::options &all) const { all.def.priority = value; }
};

/* How rows are divided among workers. */
struct parallel : detail::system_option {
    explicit parallel(mica_parallel wanted, uint32_t each = 0) : how(wanted), rows(each) {}
    mica_parallel how;
    uint32_t rows;
    void apply(detail::options &all) const
    {
        all.def.parallel = how;
        all.def.parallel_rows = rows;
    }
};

/* What a system reads and writes of any entity, not only of those that it is called for; and an index or stream that it uses. */
template <class... T> inline constexpr detail::accesses<false, T...> reads{};
template <class... T> inline constexpr detail::accesses<true, T...> writes{};
struct uses : detail::system_option {
    explicit uses(const mica::index &index); /* is made current before the system starts */
    explicit uses(mica_stream *stream, bool writes = false) : use{0, stream, writes, nullptr} {}
    mica_use use;
    void apply(detail::options &all) const { all.uses.push_back(use); }
};

/* The function is called once per run, with nothing but a const mica_frame &. An exclusive system is also one of these. */
struct once_t : detail::system_option {
    void apply(detail::options &) const {}
};
inline constexpr once_t once{};
inline constexpr detail::system_flag<&mica_system_def::exclusive> exclusive{};
inline constexpr detail::system_flag<&mica_system_def::flush_first> flush_first{};
inline constexpr detail::system_flag<&mica_system_def::while_paused> while_paused{};
inline constexpr detail::system_flag<&mica_system_def::disabled> starts_disabled{};

/* Of systems and queries: also entities that are hidden; rows in the order of a component that is read or written. */
inline constexpr detail::system_flag<&mica_system_def::with_hidden, detail::query_option> with_hidden{};
template <class T, class Less> detail::sorting<T, Less> sorted_by(Less less)
{
    return detail::sorting<T, Less>(std::move(less));
}

/* Of observers of ADD and MATCH: they are told first what is there already. */
struct existing_t : detail::observer_option {
    void apply(detail::options &all) const { all.existing = true; }
};
inline constexpr existing_t existing{};

/* A position of a grid: {1, 2} or {1, 2, 3}. */
struct point : mica_point {
    point(double x_value, double y_value, double z_value = 0) : mica_point{x_value, y_value, z_value} {}
};

/* Of indexes. */
inline constexpr detail::index_flag<&mica_index_def::hashed> hashed{};
inline constexpr detail::index_flag<&mica_index_def::unique> unique{};
inline constexpr detail::index_flag<&mica_index_def::torus> torus{};

} // namespace mica

#endif
