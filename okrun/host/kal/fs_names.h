/* Names of files: what is a name, and what it leads to beneath its base.                       SPEC: FS-2, FS-3 */
#ifndef OKHOST_KAL_FS_NAMES_H
#define OKHOST_KAL_FS_NAMES_H

#include <openkal/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define FS_MAX_NAME 255   /* bytes of a component: NAME_MAX of every Linux file system that matters */
#define FS_MAX_PATH 65536 /* bytes of a name */

/* An open directory that names begin at. */
struct fs_base {
    int fd;
    bool is_root; /* what the file system itself begins with: links to "/" lead to it */
};

/* A name that was split at its last component. */
struct fs_place {
    int dir;    /* open; to be closed where owned */
    bool owned;
    char last[FS_MAX_NAME + 1];
};

/* Whether name is components joined by "/", or "." alone. */
bool fs_is_name(const char *name, kal_uintptr len);

/* Open what name leads to, as openat() does; links are followed.
 * Requires: fs_is_name(name, len).
 * Ensures:  a descriptor above 2, close-on-exec; or the negated error: kal_err_permission where the name leads out of
 *           base. */
int fs_open_at(struct fs_base base, const char *name, kal_uintptr len, int flags, mode_t mode);

/* Find the directory that holds a name's last component, which is not looked at.
 * Requires: fs_is_name(name, len).
 * Ensures:  kal_ok, and *place, to be given to fs_leave(); or the error. */
int fs_find(struct fs_base base, const char *name, kal_uintptr len, struct fs_place *place);
void fs_leave(struct fs_place *place);

#endif
