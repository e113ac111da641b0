/* Probes for tracing tools (USDT): perf, bpftrace, SystemTap and gdb find them by name in the program and see their arguments. A probe is one
 * instruction that does nothing. Without MICA_PROBES there are none. They are listed in docs/guide/performance.md. */
#ifndef MICAP_BASE_PROBE_H
#define MICAP_BASE_PROBE_H

#ifdef MICA_PROBES
#    include <sys/sdt.h>
#    ifdef __clang__ /* which warns about the macros of that header where they are used */
#        pragma clang diagnostic ignored "-Wgnu-zero-variadic-macro-arguments"
#    endif
#    define MICAP_PROBE_1(name, a) STAP_PROBE1(mica, name, a)
#    define MICAP_PROBE_2(name, a, b) STAP_PROBE2(mica, name, a, b)
#    define MICAP_PROBE_3(name, a, b, c) STAP_PROBE3(mica, name, a, b, c)
#else
#    define MICAP_PROBE_1(name, a) ((void)0)
#    define MICAP_PROBE_2(name, a, b) ((void)0)
#    define MICAP_PROBE_3(name, a, b, c) ((void)0)
#endif

#endif
