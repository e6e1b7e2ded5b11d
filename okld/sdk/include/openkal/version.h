/* The version, and which interfaces are answered. Made from okld/iface/surface.txt. */
#ifndef OPENKAL_VERSION_H
#define OPENKAL_VERSION_H

#include "types.h"

#define KAL_VERSION_MAKE(major, minor, patch) \
    ((kal_u64)(major) << 32 | (kal_u64)(minor) << 16 | (kal_u64)(patch))
#define KAL_VERSION KAL_VERSION_MAKE(0, 20, 0) /* that these headers state */

/* The bits of an interface word. */
#define KAL_IFACE_ABORT ((kal_u64)1 << 0) /* The ends that a program chooses. */
#define KAL_IFACE_STREAM ((kal_u64)1 << 1) /* Bytes in and out. */
#define KAL_IFACE_MEMORY ((kal_u64)1 << 2) /* Memory. */
#define KAL_IFACE_ENV ((kal_u64)1 << 3) /* Arguments and environment. */
#define KAL_IFACE_TIME ((kal_u64)1 << 4) /* Clocks and sleep. */
#define KAL_IFACE_RANDOM ((kal_u64)1 << 5) /* Random bytes fit for keys. */
#define KAL_IFACE_FS ((kal_u64)1 << 6) /* Files and directories, each below a directory that was given. */
#define KAL_IFACE_PROCESS ((kal_u64)1 << 7) /* Other programs. */
#define KAL_IFACE_TASK ((kal_u64)1 << 8) /* Threads. */
#define KAL_IFACE_EXEC ((kal_u64)1 << 9) /* Code made at run time; never writable and executable together. */
#define KAL_IFACE_TERMINAL ((kal_u64)1 << 10) /* The terminal behind a stream. */
#define KAL_IFACE_NET ((kal_u64)1 << 11) /* Connections. */
#define KAL_IFACE_DATAGRAM ((kal_u64)1 << 12) /* Datagrams. */
#define KAL_IFACE_SPACE ((kal_u64)1 << 13) /* A second address space that begins as a copy of this one. */
#define KAL_IFACE_TIMEOUT ((kal_u64)1 << 14) /* The waiting calls with a bound; expired is kal_err_again, and ns 0 is no bound. */
#define KAL_IFACE_MAP ((kal_u64)1 << 15) /* A file's bytes in the address space. */
#define KAL_IFACE_REGION ((kal_u64)1 << 16) /* Address space reserved first, memory committed later. */
#define KAL_IFACE_PROF ((kal_u64)1 << 17) /* What the runner measures; cheap when nothing is measured. The runner answers it. */
#define KAL_IFACE_DEBUG ((kal_u64)1 << 18) /* Names for addresses. The runner answers it. */

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the implementation: major << 32, minor << 16, patch. */
kal_u64 kal_version(void);

/* The interfaces that are answered, a bit each, by position. */
kal_u64 kal_interfaces(void);

#ifdef __cplusplus
}
#endif

#endif
