/* What openkal.fs keeps of the listings of a directory. */
#ifndef OKHOST_KAL_FS_LIST_H
#define OKHOST_KAL_FS_LIST_H

/* End every list that was begun on a directory; `directory` is the state of its handle. */
void fs_end_lists(const void *directory);

#endif
