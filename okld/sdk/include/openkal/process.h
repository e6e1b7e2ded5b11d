/* openkal.process: Other programs. Made from okld/iface/surface.txt. */
#ifndef OPENKAL_PROCESS_H
#define OPENKAL_PROCESS_H

#include "types.h"
#include "fs.h"
#include "stream.h"

/* A program that was started, owned. */
struct kal_process {
    kal_uintptr h; /* The handle; 0 is never issued. */
};
KAL_STATIC_ASSERT(sizeof(struct kal_process) == 8, "kal_process: size");
KAL_STATIC_ASSERT(__builtin_offsetof(struct kal_process, h) == 0, "kal_process.h: offset");

/* A set of programs that end together, owned. */
struct kal_job {
    kal_uintptr h; /* The handle; 0 is never issued. */
};
KAL_STATIC_ASSERT(sizeof(struct kal_job) == 8, "kal_job: size");
KAL_STATIC_ASSERT(__builtin_offsetof(struct kal_job, h) == 0, "kal_job.h: offset");

/* The three streams of a new program; a handle of 0 is inherited. */
struct kal_spawn_streams {
    struct kal_stream in; /* Its standard input. */
    struct kal_stream out; /* Its standard output. */
    struct kal_stream err; /* Its standard error. */
};
KAL_STATIC_ASSERT(sizeof(struct kal_spawn_streams) == 24, "kal_spawn_streams: size");
KAL_STATIC_ASSERT(__builtin_offsetof(struct kal_spawn_streams, in) == 0, "kal_spawn_streams.in: offset");
KAL_STATIC_ASSERT(__builtin_offsetof(struct kal_spawn_streams, out) == 8, "kal_spawn_streams.out: offset");
KAL_STATIC_ASSERT(__builtin_offsetof(struct kal_spawn_streams, err) == 16, "kal_spawn_streams.err: offset");

/* A directory given to a new program. */
struct kal_preopen {
    struct kal_dir dir; /* The directory. */
    const char* name; /* The name it is given under. */
    kal_uintptr len; /* Bytes of the name. */
};
KAL_STATIC_ASSERT(sizeof(struct kal_preopen) == 24, "kal_preopen: size");
KAL_STATIC_ASSERT(__builtin_offsetof(struct kal_preopen, dir) == 0, "kal_preopen.dir: offset");
KAL_STATIC_ASSERT(__builtin_offsetof(struct kal_preopen, name) == 8, "kal_preopen.name: offset");
KAL_STATIC_ASSERT(__builtin_offsetof(struct kal_preopen, len) == 16, "kal_preopen.len: offset");

/* How to start a program. */
struct kal_spawn {
    struct kal_dir base; /* Where its path begins. */
    struct kal_dir work; /* Its working directory. */
    struct kal_job* job; /* The job to join, or null. */
    const struct kal_preopen* grants; /* The directories to give it. */
    kal_uintptr grant_count; /* How many; at most 16. */
    kal_uintptr flags; /* KAL_SPAWN_ bits. */
};
KAL_STATIC_ASSERT(sizeof(struct kal_spawn) == 48, "kal_spawn: size");
KAL_STATIC_ASSERT(__builtin_offsetof(struct kal_spawn, base) == 0, "kal_spawn.base: offset");
KAL_STATIC_ASSERT(__builtin_offsetof(struct kal_spawn, work) == 8, "kal_spawn.work: offset");
KAL_STATIC_ASSERT(__builtin_offsetof(struct kal_spawn, job) == 16, "kal_spawn.job: offset");
KAL_STATIC_ASSERT(__builtin_offsetof(struct kal_spawn, grants) == 24, "kal_spawn.grants: offset");
KAL_STATIC_ASSERT(__builtin_offsetof(struct kal_spawn, grant_count) == 32, "kal_spawn.grant_count: offset");
KAL_STATIC_ASSERT(__builtin_offsetof(struct kal_spawn, flags) == 40, "kal_spawn.flags: offset");

#define KAL_SPAWN_BOUND_LIFETIME ((kal_uintptr)1<<0) /* It ends when this program ends. */
#define KAL_PROCESS_PROP_TERMINATE ((kal_uintptr)1<<0) /* A program can be ended. */
#define KAL_PROCESS_PROP_STREAM_PASSING ((kal_uintptr)1<<1) /* Streams can be passed to it. */
#define KAL_PROCESS_PROP_EXIT_STATUS ((kal_uintptr)1<<2) /* Its status is known. */
#define KAL_PROCESS_PROP_CHANNEL ((kal_uintptr)1<<3) /* There are channels. */
#define KAL_PROCESS_PROP_GRANT_DIR ((kal_uintptr)1<<4) /* Directories can be given. */
#define KAL_PROCESS_PROP_BOUND_LIFETIME ((kal_uintptr)1<<5) /* KAL_SPAWN_BOUND_LIFETIME works. */
#define KAL_PROCESS_PROP_JOB ((kal_uintptr)1<<6) /* There are jobs. */
#define KAL_PROCESS_PROP_STOP_REQUESTED ((kal_uintptr)1<<7) /* kal_process_stop_requested works. */

#ifdef __cplusplus
extern "C" {
#endif

/* Start a program with three streams and its grants, nothing else open. */
int kal_process_spawn(const struct kal_spawn* how, const char* path, kal_uintptr path_len,
                      const char** argv, const kal_uintptr* argv_lens, kal_uintptr argc,
                      const char** envp, const kal_uintptr* envp_lens, kal_uintptr envc,
                      const struct kal_spawn_streams* streams, struct kal_process* out);

/* Two streams, what one end writes the other reads. */
int kal_process_channel(struct kal_stream* mine, struct kal_stream* theirs);

/* Close one end. */
void kal_process_channel_close(struct kal_stream stream);

/* Wait for its end. */
int kal_process_wait(struct kal_process process, int* status, int* terminated);

/* End it. */
int kal_process_terminate(struct kal_process process);

/* Let go of it; it runs on. */
void kal_process_close(struct kal_process process);

/* A word that is not 0 once this program is asked to stop. */
const kal_u32* kal_process_stop_requested(void);

/* Make a job with this program in it. */
int kal_process_job_enter(struct kal_job* out);

/* End every program of the job. */
int kal_process_job_terminate(struct kal_job job);

/* Let go of it. */
void kal_process_job_close(struct kal_job job);

/* KAL_PROCESS_PROP_ bits. */
kal_uintptr kal_process_props(void);

#ifdef __cplusplus
}
#endif

#endif
