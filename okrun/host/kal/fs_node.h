/* What is known of a file or directory. */
#ifndef OKHOST_KAL_FS_NODE_H
#define OKHOST_KAL_FS_NODE_H

#include <openkal/fs.h>
#include <stdbool.h>
#include <time.h>

/* Whether out can take what a host fills in: its own size and `present` at least. */
bool fs_is_info(const struct kal_node_info *out);

/* Fill *out with what is wanted of the node that is open as fd; kal_ok, or the error. SPEC: FS-6
 * Requires: fs_is_info(out). */
int fs_info_of(int fd, kal_u32 wanted, struct kal_node_info *out);

/* The two times of utimensat() that set the time of change alone. */
void fs_times(kal_u64 ns, struct timespec times[2]);

#endif
