/* The plan: everything okhost needs to know to start one image, made by okrun/plan and trusted after one check.
 *
 * Grammar (all words are unsigned, 64-bit, little-endian; everything is 8-byte aligned):
 *
 *   plan     = header segments values kinds strings
 *   header   = struct plan_header
 *   segments = segment_count x struct plan_segment            ascending by vaddr
 *   values   = symbol_count x u64                             one a dynamic symbol, in symbol-table order
 *   kinds    = symbol_count x u8, zero bytes up to 8          enum plan_symbol_kind
 *   strings  = path build_id report_dir run preopens runner imports
 *                                                             each: u64 length, bytes, one NUL, zero bytes up to 8
 *
 * path is the image as the user gave it; build_id is hex, or empty. report_dir and run, which says what other reports
 * this run's belongs to, are empty unless something is measured; run may be empty then, too.
 * preopens holds the directories that the image is given, two words each: an open descriptor in decimal, and the name
 * that it is given under; empty: those of FS-1; one empty word: none. runner holds the words of the command that starts
 * another image, up to its options; empty: none can be started. imports holds the names of imported kal_* functions. A
 * word is ended by a NUL. Names, not numbers, bind an import, so that a plan means the same to every host.
 *
 * The plan ends where `size` says, and so does the file that carries it. Addresses are link addresses (as in the
 * image's own headers); okhost maps link address `lo` at the address it chose. File offsets count from the image's
 * first byte, which lies at `image_offset` in the open file.
 *
 * History: 1, the first; 2, preopens and runner; 3, run.                                          SPEC: PLAN-1
 */
#ifndef OKHOST_PLAN_H
#define OKHOST_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLAN_MAGIC UINT64_C(0x336e616c706b) /* the bytes "kplan3", two NULs */
#define PLAN_PAGE 0x10000u             /* segments never share a page of this size: the largest page size in use */

enum plan_symbol_kind {
    PLAN_SYMBOL_IMAGE = 0,    /* value is a link address */
    PLAN_SYMBOL_ABSOLUTE = 1, /* value is the value */
    PLAN_SYMBOL_KAL = 2,      /* value is where the name starts in the string `imports`; required */
    PLAN_SYMBOL_KAL_WEAK = 3  /* the same; null when the host does not answer the interface */
};

enum plan_measure { /* bits of plan_header.measure */
    PLAN_MEASURE_COUNT = 1,
    PLAN_MEASURE_CALLS = 2,
    PLAN_MEASURE_COUNTERS = 4,
    PLAN_MEASURE_PERFMAP = 8,
    PLAN_MEASURE_HEAP = 16,
    PLAN_MEASURE_ALL = 31
};

enum plan_prot { PLAN_PROT_X = 1, PLAN_PROT_W = 2, PLAN_PROT_R = 4 }; /* as p_flags */

struct plan_header {
    uint64_t magic;
    uint64_t size;    /* of the whole plan, in bytes */
    uint64_t machine; /* e_machine */

    uint64_t file_fd; /* the open file the image was admitted from */
    uint64_t file_dev, file_ino, file_size, file_mtime_ns, file_ctime_ns; /* as fstat gave them at admission */
    uint64_t image_offset, image_size;

    uint64_t lo, hi; /* link addresses: every segment lies in [lo, hi); multiples of PLAN_PAGE */
    uint64_t align;  /* a power of two, PLAN_PAGE at least: run-time and link addresses differ by a multiple of it */
    uint64_t entry;
    uint64_t stack;   /* bytes of stack for the entry; a multiple of PLAN_PAGE, never 0 */
    uint64_t version; /* of openkal, needed at least */
    uint64_t required, optional; /* interface words */

    uint64_t relro, relro_size; /* size 0: none; both ends multiples of PLAN_PAGE after rounding down */
    uint64_t init, fini;        /* DT_INIT, DT_FINI; 0: none */
    uint64_t init_array, init_count, fini_array, fini_count;
    uint64_t rela, rela_count;     /* DT_RELA */
    uint64_t jmprel, jmprel_count; /* DT_JMPREL */
    uint64_t relr, relr_count;     /* DT_RELR, in words */

    uint64_t names, names_count;     /* file offset and entries of .symtab, else .dynsym; count 0: none */
    uint64_t names_dynamic;          /* 1: that table is .dynsym; 0: it is .symtab, or there is none */
    uint64_t strings, strings_size;  /* file offset and bytes of its string table */

    uint64_t measure; /* enum plan_measure bits; 0: bound as if measuring did not exist */
    uint64_t segment_count;
    uint64_t symbol_count;
};

struct plan_segment {
    uint64_t offset, vaddr, filesz, memsz, prot;
};

/* Words, each ended by a NUL, one after the other. */
struct plan_words {
    const char *at;
    uint64_t size;
};

/* A decoded plan: pointers into the plan's own bytes, which must outlive it. */
struct plan {
    const struct plan_header *header;
    const struct plan_segment *segments; /* header->segment_count */
    const uint64_t *values;              /* header->symbol_count */
    const uint8_t *kinds;                /* header->symbol_count */
    const char *path, *build_id, *report_dir, *run; /* each ended by a NUL */
    struct plan_words preopens, runner, imports;
};

struct refusal;

/* Check the bytes of a plan once, and say where its parts lie.
 * Requires: bytes is 8-byte aligned.
 * Ensures:  true, and everything that the format promises holds of *out; else false, and *why says what does not.
 * Never:    reads outside bytes[0 .. size).                                                   SPEC: PLAN-2 */
bool plan_decode(const void *bytes, size_t size, struct plan *out, struct refusal *why);

/* Whether words are those that stand for none at all, not for what there is by default. */
bool plan_is_none(const struct plan_words *words);

/* The word after `word`, or the first for null; null after the last. */
const char *plan_next_word(const struct plan_words *words, const char *word);

/* The segment with all of prot that holds size bytes at a link address, counting only bytes of the file; or null. */
const struct plan_segment *plan_segment_of(const struct plan *plan, uint64_t addr, uint64_t size, uint64_t prot);

#endif
