/* openkal.fs: Files and directories, each below a directory that was given. Made from okld/iface/surface.txt. */
#ifndef OPENKAL_FS_H
#define OPENKAL_FS_H

#include "types.h"
#include "stream.h"

/* An open directory, owned. */
struct kal_dir {
    kal_uintptr h; /* The handle; 0 is never issued. */
};
KAL_STATIC_ASSERT(sizeof(struct kal_dir) == 8, "kal_dir: size");
KAL_STATIC_ASSERT(__builtin_offsetof(struct kal_dir, h) == 0, "kal_dir.h: offset");

/* An open file, owned. */
struct kal_file {
    kal_uintptr h; /* The handle; 0 is never issued. */
};
KAL_STATIC_ASSERT(sizeof(struct kal_file) == 8, "kal_file: size");
KAL_STATIC_ASSERT(__builtin_offsetof(struct kal_file, h) == 0, "kal_file.h: offset");

/* What a name stands for. */
enum kal_node_kind {
    kal_node_absent = 0,
    kal_node_file = 1,
    kal_node_directory = 2,
    kal_node_link = 3,
    kal_node_other = 4
};

/* What is known of a file or directory. */
struct kal_node_info {
    kal_u32 self_size; /* Bytes of this structure, set by the caller; the host writes no more. */
    kal_u32 present; /* KAL_INFO_ bits of what the host filled in. */
    kal_u64 size; /* Bytes. */
    kal_u64 modified_ns; /* Last change, nanoseconds since 1970. */
    kal_u64 identity[2]; /* Equal for two names of one file. */
    int kind; /* enum kal_node_kind. */
    int writable; /* Not 0: this program may write it. */
};
KAL_STATIC_ASSERT(sizeof(struct kal_node_info) == 48, "kal_node_info: size");
KAL_STATIC_ASSERT(__builtin_offsetof(struct kal_node_info, self_size) == 0, "kal_node_info.self_size: offset");
KAL_STATIC_ASSERT(__builtin_offsetof(struct kal_node_info, present) == 4, "kal_node_info.present: offset");
KAL_STATIC_ASSERT(__builtin_offsetof(struct kal_node_info, size) == 8, "kal_node_info.size: offset");
KAL_STATIC_ASSERT(__builtin_offsetof(struct kal_node_info, modified_ns) == 16, "kal_node_info.modified_ns: offset");
KAL_STATIC_ASSERT(__builtin_offsetof(struct kal_node_info, identity) == 24, "kal_node_info.identity: offset");
KAL_STATIC_ASSERT(__builtin_offsetof(struct kal_node_info, kind) == 40, "kal_node_info.kind: offset");
KAL_STATIC_ASSERT(__builtin_offsetof(struct kal_node_info, writable) == 44, "kal_node_info.writable: offset");

#define KAL_INFO_KIND ((kal_uintptr)1<<0) /* kind. */
#define KAL_INFO_SIZE ((kal_uintptr)1<<1) /* size. */
#define KAL_INFO_MODIFIED ((kal_uintptr)1<<2) /* modified_ns. */
#define KAL_INFO_WRITABLE ((kal_uintptr)1<<3) /* writable. */
#define KAL_INFO_IDENTITY ((kal_uintptr)1<<4) /* identity. */
#define KAL_INFO_ALL ((kal_uintptr)0x1f) /* All of them. */
#define KAL_FS_NO_RESOLVE ((kal_uintptr)1<<0) /* Information on a link itself, not on what it leads to. */
#define KAL_FS_LINK_DIRECTORY ((kal_uintptr)1<<0) /* The link's target is a directory. */
#define KAL_OPEN_READ ((kal_uintptr)1<<0) /* To read. */
#define KAL_OPEN_WRITE ((kal_uintptr)1<<1) /* To write. */
#define KAL_OPEN_CREATE ((kal_uintptr)1<<2) /* Make it where there is none. */
#define KAL_OPEN_EXCLUSIVE ((kal_uintptr)1<<3) /* Fail where there is one. */
#define KAL_OPEN_TRUNCATE ((kal_uintptr)1<<4) /* Empty it. */
#define KAL_OPEN_APPEND ((kal_uintptr)1<<5) /* Every write goes to the end. */
#define KAL_SEEK_SET 0 /* From the start. */
#define KAL_SEEK_CURRENT 1 /* From where the file stands. */
#define KAL_SEEK_END 2 /* From the end. */
#define KAL_LOCK_SHARED ((kal_uintptr)1<<0) /* Together with other shared locks. */
#define KAL_LOCK_EXCLUSIVE ((kal_uintptr)1<<1) /* Alone. */
#define KAL_LOCK_WAIT ((kal_uintptr)1<<2) /* Wait for it. */
#define KAL_FS_PROP_CASE_SENSITIVE ((kal_uintptr)1<<0) /* Names that differ in case differ. */
#define KAL_FS_PROP_LINKS ((kal_uintptr)1<<1) /* There are links. */
#define KAL_FS_PROP_MODIFIED_TIME ((kal_uintptr)1<<2) /* Times of change are kept. */
#define KAL_FS_PROP_ATOMIC_RENAME ((kal_uintptr)1<<3) /* A rename replaces at once. */
#define KAL_FS_PROP_MAKE_LINKS ((kal_uintptr)1<<4) /* This program may make links. */
#define KAL_FS_PROP_LOCKS ((kal_uintptr)1<<5) /* There are locks. */
#define KAL_FS_PROP_CAPACITY ((kal_uintptr)1<<6) /* The medium says its capacity. */

#ifdef __cplusplus
extern "C" {
#endif

/* How many directories the program was given. */
kal_uintptr kal_fs_preopen_count(void);

/* A directory that was given, and its name. */
int kal_fs_preopen(kal_uintptr index, struct kal_dir* out, char* name_out, kal_uintptr name_cap,
                   kal_uintptr* name_len);

/* KAL_FS_PROP_ bits. */
kal_uintptr kal_fs_props(struct kal_dir dir);

/* The longest component of a name, in bytes. */
kal_uintptr kal_fs_max_name(void);

/* Open a directory below base. */
int kal_fs_open_dir(struct kal_dir base, const char* name, kal_uintptr len, struct kal_dir* out);

/* Open a file below base; flags are KAL_OPEN_ bits. */
int kal_fs_open(struct kal_dir base, const char* name, kal_uintptr len, kal_uintptr flags,
                struct kal_file* out);

/* Close it. */
void kal_fs_close_dir(struct kal_dir dir);

/* Close it. */
void kal_fs_close_file(struct kal_file file);

/* The stream of a file, borrowed from it. */
struct kal_stream kal_fs_stream(struct kal_file file);

/* Move the file's position; whence is KAL_SEEK_. */
int kal_fs_seek(struct kal_file file, kal_i64 offset, int whence, kal_u64* result);

/* Set the file's length. */
int kal_fs_truncate(struct kal_file file, kal_u64 size);

/* What a name stands for; an absent one is kal_ok with kind absent. */
int kal_fs_info(struct kal_dir base, const char* name, kal_uintptr len, kal_uintptr flags,
                kal_u32 wanted, struct kal_node_info* out);

/* What is known of an open file. */
int kal_fs_file_info(struct kal_file file, kal_u32 wanted, struct kal_node_info* out);

/* Make a directory. */
int kal_fs_mkdir(struct kal_dir base, const char* name, kal_uintptr len);

/* Remove a file, a link or an empty directory. */
int kal_fs_remove(struct kal_dir base, const char* name, kal_uintptr len);

/* Give a thing another name. */
int kal_fs_rename(struct kal_dir from, const char* a, kal_uintptr alen, struct kal_dir to,
                  const char* b, kal_uintptr blen);

/* Set the time of change of an open file. */
int kal_fs_set_modified(struct kal_file file, kal_u64 ns);

/* Set the time of change of a name. */
int kal_fs_set_modified_at(struct kal_dir base, const char* name, kal_uintptr len, kal_u64 ns);

/* Lock a range; len 0 is to the end. Ends with the open file. */
int kal_fs_lock(struct kal_file file, kal_u64 start, kal_u64 len, kal_uintptr mode);

/* Unlock a range. */
int kal_fs_unlock(struct kal_file file, kal_u64 start, kal_u64 len);

/* Bytes of the medium; either pointer may be null. */
int kal_fs_capacity(struct kal_dir dir, kal_u64* total, kal_u64* available);

/* Make a link to target, which is not looked at. */
int kal_fs_link_create(struct kal_dir base, const char* name, kal_uintptr len, const char* target,
                       kal_uintptr target_len, kal_uintptr flags);

/* Copy a link's target, return its length. */
kal_intptr kal_fs_link_read(struct kal_dir base, const char* name, kal_uintptr len, char* out,
                            kal_uintptr cap);

/* Begin to list a directory. */
int kal_fs_list_begin(struct kal_dir dir, kal_uintptr* iter);

/* The next entry, not resolved; at the end iter becomes 0. */
int kal_fs_list_next(struct kal_dir dir, kal_uintptr* iter, char* name_out, kal_uintptr name_cap,
                     kal_uintptr* name_len, int* kind);

#ifdef __cplusplus
}
#endif

#endif
