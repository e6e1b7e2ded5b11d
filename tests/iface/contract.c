/* The public contract, transcribed by hand from its description and from nothing of this project: a header that says
 * anything else does not compile together with it. SPEC: SURF-3, SURF-4 */

#include <openkal/openkal.h>

#ifdef __cplusplus
#define ASSERT(fact) static_assert(fact, #fact)
#else
#define ASSERT(fact) _Static_assert(fact, #fact)
#endif
#define AT(structure, member) __builtin_offsetof(struct structure, member)
#define SIZE(structure) sizeof(struct structure)

ASSERT(sizeof(kal_uintptr) == sizeof(void*) && (kal_uintptr)-1 > 0);
ASSERT(sizeof(kal_intptr) == sizeof(void*) && (kal_intptr)-1 < 0);
ASSERT(sizeof(kal_u8) == 1 && (kal_u8)-1 > 0);
ASSERT(sizeof(kal_u32) == 4 && (kal_u32)-1 > 0);
ASSERT(sizeof(kal_u64) == 8 && (kal_u64)-1 > 0);
ASSERT(sizeof(kal_i64) == 8 && (kal_i64)-1 < 0);
ASSERT(sizeof(kal_duration) == 8 && (kal_duration)-1 > 0);

ASSERT(kal_ok == 0 && kal_err_invalid == 1 && kal_err_again == 2 && kal_err_io == 3 && kal_err_no_memory == 4);
ASSERT(kal_err_no_space == 5 && kal_err_permission == 6 && kal_err_not_supported == 7 && kal_err_closed == 8);
ASSERT(kal_err_not_found == 9 && kal_err_exists == 10 && kal_err_not_empty == 11 && kal_err_is_directory == 12);
ASSERT(kal_err_not_directory == 13);

ASSERT(KAL_VERSION == 0x140000 && KAL_VERSION_MAKE(1, 2, 3) == (kal_u64)0x100020003);
ASSERT(KAL_IFACE_ABORT == 0x1 && KAL_IFACE_STREAM == 0x2 && KAL_IFACE_MEMORY == 0x4 && KAL_IFACE_ENV == 0x8);
ASSERT(KAL_IFACE_TIME == 0x10 && KAL_IFACE_RANDOM == 0x20 && KAL_IFACE_FS == 0x40 && KAL_IFACE_PROCESS == 0x80);
ASSERT(KAL_IFACE_TASK == 0x100 && KAL_IFACE_EXEC == 0x200 && KAL_IFACE_TERMINAL == 0x400 && KAL_IFACE_NET == 0x800);
ASSERT(KAL_IFACE_DATAGRAM == 0x1000 && KAL_IFACE_SPACE == 0x2000 && KAL_IFACE_TIMEOUT == 0x4000);
ASSERT(KAL_IFACE_MAP == 0x8000 && KAL_IFACE_REGION == 0x10000);
ASSERT(KAL_IFACE_PROF == 0x20000 && KAL_IFACE_DEBUG == 0x40000);

ASSERT(KAL_STREAM_PROP_INTERACTIVE == 1);
ASSERT(KAL_TIME_PROP_WALL_AVAILABLE == 1 && KAL_TIME_PROP_MONOTONIC_SUSPENDS == 2 && KAL_TIME_PROP_SLEEP_PRECISE == 4);
ASSERT(KAL_RANDOM_PROP_BLOCKING == 1 && KAL_RANDOM_PROP_HARDWARE == 2);
ASSERT(kal_node_absent == 0 && kal_node_file == 1 && kal_node_directory == 2 && kal_node_link == 3);
ASSERT(kal_node_other == 4);
ASSERT(KAL_INFO_KIND == 1 && KAL_INFO_SIZE == 2 && KAL_INFO_MODIFIED == 4 && KAL_INFO_WRITABLE == 8);
ASSERT(KAL_INFO_IDENTITY == 16 && KAL_INFO_ALL == 0x1F);
ASSERT(KAL_FS_NO_RESOLVE == 1 && KAL_FS_LINK_DIRECTORY == 1);
ASSERT(KAL_OPEN_READ == 1 && KAL_OPEN_WRITE == 2 && KAL_OPEN_CREATE == 4 && KAL_OPEN_EXCLUSIVE == 8);
ASSERT(KAL_OPEN_TRUNCATE == 16 && KAL_OPEN_APPEND == 32);
ASSERT(KAL_SEEK_SET == 0 && KAL_SEEK_CURRENT == 1 && KAL_SEEK_END == 2);
ASSERT(KAL_LOCK_SHARED == 1 && KAL_LOCK_EXCLUSIVE == 2 && KAL_LOCK_WAIT == 4);
ASSERT(KAL_FS_PROP_CASE_SENSITIVE == 1 && KAL_FS_PROP_LINKS == 2 && KAL_FS_PROP_MODIFIED_TIME == 4);
ASSERT(KAL_FS_PROP_ATOMIC_RENAME == 8 && KAL_FS_PROP_MAKE_LINKS == 16 && KAL_FS_PROP_LOCKS == 32);
ASSERT(KAL_FS_PROP_CAPACITY == 64);
ASSERT(KAL_SPAWN_BOUND_LIFETIME == 1);
ASSERT(KAL_PROCESS_PROP_TERMINATE == 1 && KAL_PROCESS_PROP_STREAM_PASSING == 2 && KAL_PROCESS_PROP_EXIT_STATUS == 4);
ASSERT(KAL_PROCESS_PROP_CHANNEL == 8 && KAL_PROCESS_PROP_GRANT_DIR == 16 && KAL_PROCESS_PROP_BOUND_LIFETIME == 32);
ASSERT(KAL_PROCESS_PROP_JOB == 64 && KAL_PROCESS_PROP_STOP_REQUESTED == 128);
ASSERT(KAL_TASK_PROP_PREEMPTIVE == 1 && KAL_TASK_PROP_PARALLEL == 2 && KAL_TASK_PROP_WAIT_TIMEOUT == 4);
ASSERT(KAL_TASK_PROP_THREAD_LOCAL == 8);
ASSERT(KAL_EXEC_PROP_REPUBLISH == 1 && KAL_EXEC_PROP_AVAILABLE == 2);
ASSERT(KAL_TERM_LINE_EDIT == 1 && KAL_TERM_ECHO == 2 && KAL_TERM_PASS_CONTROL == 4);
ASSERT(KAL_TERM_PROP_MODE == 1 && KAL_TERM_PROP_SIZE == 2);
ASSERT(KAL_SHUT_READ == 1 && KAL_SHUT_WRITE == 2 && KAL_SHUT_BOTH == 3);
ASSERT(KAL_NET_PROP_IPV6 == 1 && KAL_NET_PROP_HALFCLOSE == 2);
ASSERT(KAL_DGRAM_PROP_IPV6 == 1 && KAL_DGRAM_PROP_BROADCAST == 2);
ASSERT(KAL_SPACE_PROP_CLONE_HANDLES == 1 && KAL_SPACE_PROP_DEFERRED_COPY == 2);
ASSERT(KAL_MAP_READ == 1 && KAL_MAP_WRITE == 2 && KAL_MAP_PRIVATE == 4 && KAL_MAP_PROP_SHARED == 1);
ASSERT(KAL_REGION_PROP_ZEROED == 1);
ASSERT(KAL_PROF_PROP_CALLS == 1 && KAL_PROF_PROP_COUNTERS == 2 && KAL_PROF_PROP_HEAP == 4);
ASSERT(KAL_DEBUG_PROP_SYMBOLS == 1);

ASSERT(SIZE(kal_stream) == 8 && AT(kal_stream, h) == 0 && SIZE(kal_dir) == 8 && AT(kal_dir, h) == 0);
ASSERT(SIZE(kal_file) == 8 && AT(kal_file, h) == 0 && SIZE(kal_process) == 8 && AT(kal_process, h) == 0);
ASSERT(SIZE(kal_job) == 8 && AT(kal_job, h) == 0 && SIZE(kal_task) == 8 && AT(kal_task, h) == 0);
ASSERT(SIZE(kal_net_conn) == 8 && AT(kal_net_conn, h) == 0);
ASSERT(SIZE(kal_net_listener) == 8 && AT(kal_net_listener, h) == 0);
ASSERT(SIZE(kal_datagram) == 8 && AT(kal_datagram, h) == 0);
ASSERT(SIZE(kal_node_info) == 48 && AT(kal_node_info, self_size) == 0 && AT(kal_node_info, present) == 4);
ASSERT(AT(kal_node_info, size) == 8 && AT(kal_node_info, modified_ns) == 16 && AT(kal_node_info, identity) == 24);
ASSERT(AT(kal_node_info, kind) == 40 && AT(kal_node_info, writable) == 44);
ASSERT(SIZE(kal_spawn_streams) == 24 && AT(kal_spawn_streams, in) == 0 && AT(kal_spawn_streams, out) == 8);
ASSERT(AT(kal_spawn_streams, err) == 16);
ASSERT(SIZE(kal_preopen) == 24 && AT(kal_preopen, dir) == 0 && AT(kal_preopen, name) == 8);
ASSERT(AT(kal_preopen, len) == 16);
ASSERT(SIZE(kal_spawn) == 48 && AT(kal_spawn, base) == 0 && AT(kal_spawn, work) == 8 && AT(kal_spawn, job) == 16);
ASSERT(AT(kal_spawn, grants) == 24 && AT(kal_spawn, grant_count) == 32 && AT(kal_spawn, flags) == 40);
ASSERT(SIZE(kal_endpoint) == 32 && AT(kal_endpoint, addr) == 0 && AT(kal_endpoint, addr_len) == 24);
ASSERT(AT(kal_endpoint, port) == 28);

#ifdef __cplusplus
extern "C" {
#endif

kal_u64 kal_version(void);
kal_u64 kal_interfaces(void);

void kal_abort(const char* msg, kal_uintptr len);
void kal_exit(int code);

struct kal_stream kal_stdin(void), kal_stdout(void), kal_stderr(void);
kal_intptr kal_stream_write(struct kal_stream, const void* buf, kal_uintptr len);
kal_intptr kal_stream_read(struct kal_stream, void* buf, kal_uintptr len);
int kal_stream_flush(struct kal_stream);
kal_uintptr kal_stream_props(struct kal_stream);

void* kal_alloc(kal_uintptr size, kal_uintptr align);
void kal_free(void* p, kal_uintptr size, kal_uintptr align);
kal_uintptr kal_memory_granularity(void);

kal_uintptr kal_env_arg_count(void);
kal_intptr kal_env_arg(kal_uintptr index, char* out, kal_uintptr cap);
kal_intptr kal_env_var(const char* name, kal_uintptr name_len, char* out, kal_uintptr cap);
kal_uintptr kal_env_var_count(void);
kal_intptr kal_env_var_at(kal_uintptr index, char* out, kal_uintptr cap);

kal_u64 kal_time_monotonic(void), kal_time_wall(void), kal_time_monotonic_granularity(void);
void kal_time_sleep(kal_u64 ns);
kal_uintptr kal_time_props(void);

int kal_random_fill(void* out, kal_uintptr len);
kal_uintptr kal_random_props(void);

kal_uintptr kal_fs_preopen_count(void);
int kal_fs_preopen(kal_uintptr index, struct kal_dir* out, char* name_out, kal_uintptr name_cap, kal_uintptr* name_len);
kal_uintptr kal_fs_props(struct kal_dir);
kal_uintptr kal_fs_max_name(void);
int kal_fs_open_dir(struct kal_dir base, const char* name, kal_uintptr len, struct kal_dir* out);
int kal_fs_open(struct kal_dir base, const char* name, kal_uintptr len, kal_uintptr flags, struct kal_file* out);
void kal_fs_close_dir(struct kal_dir);
void kal_fs_close_file(struct kal_file);
struct kal_stream kal_fs_stream(struct kal_file);
int kal_fs_seek(struct kal_file, kal_i64 offset, int whence, kal_u64* result);
int kal_fs_truncate(struct kal_file, kal_u64 size);
int kal_fs_info(struct kal_dir base, const char* name, kal_uintptr len, kal_uintptr flags, kal_u32 wanted,
                struct kal_node_info* out);
int kal_fs_file_info(struct kal_file, kal_u32 wanted, struct kal_node_info* out);
int kal_fs_mkdir(struct kal_dir base, const char* name, kal_uintptr len);
int kal_fs_remove(struct kal_dir base, const char* name, kal_uintptr len);
int kal_fs_rename(struct kal_dir from, const char* a, kal_uintptr alen, struct kal_dir to, const char* b,
                  kal_uintptr blen);
int kal_fs_set_modified(struct kal_file, kal_u64 ns);
int kal_fs_set_modified_at(struct kal_dir base, const char* name, kal_uintptr len, kal_u64 ns);
int kal_fs_lock(struct kal_file, kal_u64 start, kal_u64 len, kal_uintptr mode);
int kal_fs_unlock(struct kal_file, kal_u64 start, kal_u64 len);
int kal_fs_capacity(struct kal_dir, kal_u64* total, kal_u64* available);
int kal_fs_link_create(struct kal_dir base, const char* name, kal_uintptr len, const char* target,
                       kal_uintptr target_len, kal_uintptr flags);
kal_intptr kal_fs_link_read(struct kal_dir base, const char* name, kal_uintptr len, char* out, kal_uintptr cap);
int kal_fs_list_begin(struct kal_dir, kal_uintptr* iter);
int kal_fs_list_next(struct kal_dir, kal_uintptr* iter, char* name_out, kal_uintptr name_cap, kal_uintptr* name_len,
                     int* kind);

int kal_process_spawn(const struct kal_spawn* how, const char* path, kal_uintptr path_len, const char** argv,
                      const kal_uintptr* argv_lens, kal_uintptr argc, const char** envp, const kal_uintptr* envp_lens,
                      kal_uintptr envc, const struct kal_spawn_streams*, struct kal_process* out);
int kal_process_channel(struct kal_stream* mine, struct kal_stream* theirs);
void kal_process_channel_close(struct kal_stream);
int kal_process_wait(struct kal_process, int* status, int* terminated);
int kal_process_terminate(struct kal_process);
void kal_process_close(struct kal_process);
const kal_u32* kal_process_stop_requested(void);
int kal_process_job_enter(struct kal_job*);
int kal_process_job_terminate(struct kal_job);
void kal_process_job_close(struct kal_job);
kal_uintptr kal_process_props(void);

int kal_task_start(void (*entry)(void*), void* arg, struct kal_task* out);
int kal_task_join(struct kal_task);
void kal_task_yield(void);
kal_uintptr kal_task_current(void);
kal_uintptr kal_task_parallelism(void);
int kal_task_stack(void** base, kal_uintptr* size);
int kal_task_wait(const kal_u32* word, kal_u32 expected, kal_u64 timeout_ns);
int kal_task_wake(const kal_u32* word, kal_uintptr count, kal_uintptr* woken);
kal_uintptr kal_task_props(void);

void* kal_exec_alloc(kal_uintptr size);
int kal_exec_publish(void* p, kal_uintptr size);
void kal_exec_free(void* p, kal_uintptr size);
int kal_exec_publish_part(void* p, kal_uintptr offset, kal_uintptr size);
kal_uintptr kal_exec_granularity(void);
kal_uintptr kal_exec_props(void);

int kal_terminal_get_mode(struct kal_stream, kal_uintptr*);
int kal_terminal_set_mode(struct kal_stream, kal_uintptr);
int kal_terminal_size(struct kal_stream, kal_uintptr* cols, kal_uintptr* rows);
kal_uintptr kal_terminal_props(struct kal_stream);

int kal_net_connect(const struct kal_endpoint*, struct kal_net_conn*);
int kal_net_listen(const struct kal_endpoint*, struct kal_net_listener*);
int kal_net_accept(struct kal_net_listener, struct kal_net_conn*);
int kal_net_peer(struct kal_net_conn, struct kal_endpoint*);
int kal_net_local(struct kal_net_conn, struct kal_endpoint*);
int kal_net_listener_local(struct kal_net_listener, struct kal_endpoint*);
struct kal_stream kal_net_stream(struct kal_net_conn);
int kal_net_shutdown(struct kal_net_conn, int direction);
void kal_net_close(struct kal_net_conn);
void kal_net_close_listener(struct kal_net_listener);
kal_uintptr kal_net_props(void);

int kal_datagram_open(const struct kal_endpoint*, struct kal_datagram*);
int kal_datagram_local(struct kal_datagram, struct kal_endpoint*);
kal_intptr kal_datagram_send_to(struct kal_datagram, const void*, kal_uintptr, const struct kal_endpoint*);
kal_intptr kal_datagram_recv_from(struct kal_datagram, void*, kal_uintptr, struct kal_endpoint*);
void kal_datagram_close(struct kal_datagram);
kal_uintptr kal_datagram_props(void);

int kal_space_start(void (*entry)(void*), void* arg, void* stack_top, struct kal_process* out);
kal_uintptr kal_space_props(void);

kal_intptr kal_timeout_read(struct kal_stream, void*, kal_uintptr, kal_u64 ns);
kal_intptr kal_timeout_write(struct kal_stream, const void*, kal_uintptr, kal_u64 ns);
int kal_timeout_accept(struct kal_net_listener, kal_u64 ns, struct kal_net_conn*);
kal_intptr kal_timeout_recv_from(struct kal_datagram, void*, kal_uintptr, struct kal_endpoint*, kal_u64 ns);
int kal_timeout_wait_process(struct kal_process, kal_u64 ns, int* status, int* terminated);
kal_u64 kal_timeout_granularity(void);

int kal_map_file(struct kal_file, kal_u64 offset, kal_uintptr size, kal_uintptr access, void** out);
int kal_map_flush(void* p, kal_uintptr size);
int kal_map_release(void* p, kal_uintptr size);
kal_uintptr kal_map_granularity(void);
kal_uintptr kal_map_props(void);

int kal_region_reserve(kal_uintptr size, void** out);
int kal_region_commit(void* p, kal_uintptr size);
int kal_region_decommit(void* p, kal_uintptr size);
int kal_region_release(void* p, kal_uintptr size);
kal_uintptr kal_region_granularity(void);
kal_uintptr kal_region_props(void);

int kal_prof_counter(const char* name, kal_uintptr len, const kal_u64* cell);
int kal_prof_phase(const char* name, kal_uintptr len);
kal_uintptr kal_prof_props(void);

kal_intptr kal_debug_symbolize(const void* address, char* out, kal_uintptr cap, kal_uintptr* offset);
kal_uintptr kal_debug_props(void);

#ifdef __cplusplus
}
#endif

/* Neither returns: else a compiler says that control reaches the end of a function that returns a value. */
int by_abort(void);
int by_abort(void)
{
    kal_abort("", 0);
}

int by_exit(void);
int by_exit(void)
{
    kal_exit(0);
}
