/* Leases, for checked builds: pages are shown to the program at other addresses than their own, and those addresses can be
 * ended, after which whoever uses them is stopped. The contract of this seam: the pages come from micap_pages_allocate;
 * an address that was ended faults for as long as LEASE_TERMS further terms, then it may be in use again. Where the system has
 * no second mappings of memory, or is out of addresses, nothing is leased: the program gets the pages' own addresses. */
#ifndef MICAP_OS_LEASE_H
#define MICAP_OS_LEASE_H

#include <stdbool.h>
#include <stddef.h>

#ifdef MICA_CHECKED

/* The address at which the program may use `pointer`, which lies in these pages, until the owner ends its leases.
 * Any thread. */
void *micap_lease(const void *owner, void *pages, size_t bytes, const void *pointer);

/* Ends all addresses of this owner. While nobody uses them rightfully. */
void micap_leases_end(const void *owner);

/* The pages are given back. Their addresses stay until the owner ends them, with what was there. */
void micap_lease_forget(const void *pages);

/* The owner goes, and all of its leases with it. */
void micap_leases_drop(const void *owner);

/* Called when an address is used that has ended: it does not return. Set once, by whoever leases. */
void micap_lease_on_fault(void (*fn)(const void *owner, const void *address));

#endif
#endif
