/* The types and errors of openkal. Made from okld/iface/surface.txt. */
#ifndef OPENKAL_TYPES_H
#define OPENKAL_TYPES_H

#ifdef __cplusplus
#define KAL_STATIC_ASSERT(fact, text) static_assert(fact, text)
#else
#define KAL_STATIC_ASSERT(fact, text) _Static_assert(fact, text)
#endif

#define KAL_NORETURN __attribute__((noreturn))

typedef __UINTPTR_TYPE__ kal_uintptr; /* An unsigned machine word: a size, a count, a handle, a word of properties. */
typedef __INTPTR_TYPE__ kal_intptr; /* A count of bytes, or a negated kal_error when nothing moved. */
typedef __UINT8_TYPE__ kal_u8; /* Eight bits. */
typedef __UINT32_TYPE__ kal_u32; /* Thirty-two bits. */
typedef __UINT64_TYPE__ kal_u64; /* Sixty-four bits. */
typedef __INT64_TYPE__ kal_i64; /* Sixty-four bits with a sign. */

/* What went wrong; there are no other errors. */
enum kal_error {
    kal_ok = 0, /* Done. */
    kal_err_invalid = 1, /* A handle or an argument is none that is allowed. */
    kal_err_again = 2, /* Not now; also, a bound that expired. */
    kal_err_io = 3, /* The device failed. */
    kal_err_no_memory = 4, /* No memory. */
    kal_err_no_space = 5, /* The medium is full. */
    kal_err_permission = 6, /* Not allowed. */
    kal_err_not_supported = 7, /* This host or this object cannot do it. */
    kal_err_closed = 8, /* The other end, or the handle, is closed. */
    kal_err_not_found = 9, /* There is no such thing. */
    kal_err_exists = 10, /* There is one already. */
    kal_err_not_empty = 11, /* The directory has entries. */
    kal_err_is_directory = 12, /* It is a directory. */
    kal_err_not_directory = 13, /* It is no directory. */
};

#endif
