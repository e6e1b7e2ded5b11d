/* Open directories, as the other files of openkal.fs and openkal.process need them. */
#ifndef OKHOST_KAL_FS_DIR_H
#define OKHOST_KAL_FS_DIR_H

#include "fs_names.h"
#include "handle.h"

/* The directory that word stands for, kept until handle_put(); null where it is none. */
struct handle *fs_dir(kal_uintptr word, struct fs_base *base);

/* A handle for the directory that is open as fd, which becomes the handle's; 0 where there is no memory: fd is closed.
 */
kal_uintptr fs_dir_new(int fd);

#endif
