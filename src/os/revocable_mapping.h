/* Leases, for checked builds: the program gets pointers into a second mapping of the pages, which can be invalidated; an access through
 * an invalidated pointer faults. The contract of this seam: the pages come from micap_pages_allocate; an invalidated address
 * faults for the next LEASE_TERMS terms, then it may be used again. If the system has no second mappings, or is out of addresses, the
 * program gets the addresses of the pages themselves. */
#ifndef MICAP_OS_REVOCABLE_MAPPING_H
#define MICAP_OS_REVOCABLE_MAPPING_H

#include <stdbool.h>
#include <stddef.h>

#ifdef MICA_CHECKED

/* Returns the address at which the program may use `pointer`, which is in these pages, until the addresses of the owner are revoked.
 * Threads: any. */
void *micap_revocable_address(const void *owner, void *pages, size_t bytes, const void *pointer);

/* Invalidates all leased addresses of this owner. Call it only while no valid pointer into them is in use. */
void micap_revocable_revoke(const void *owner);

/* Call this when the pages are released. Their addresses and contents stay readable until they are revoked. */
void micap_revocable_forget(const void *pages);

/* Call this when the owner is destroyed: unmaps all of its addresses. */
void micap_revocable_drop(const void *owner);

/* Sets the function that is called when the program uses an invalidated address. It must not return. Set once, by the user of leases. */
void micap_revocable_on_fault(void (*fn)(const void *owner, const void *address));

#endif
#endif
