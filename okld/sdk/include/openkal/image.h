/* What an image says of itself: the note that declares its interfaces, and imports that may be missing. */
#ifndef OPENKAL_IMAGE_H
#define OPENKAL_IMAGE_H

#include "types.h"
#include "version.h"

/* Declare what this image needs. Use it once, in one file, outside any function:
 *
 *     OPENKAL_IMAGE(KAL_IFACE_ABORT | KAL_IFACE_STREAM, KAL_IFACE_NET, 0)
 *
 * required:    interfaces without which the image does not start, KAL_IFACE_ bits;
 * optional:    interfaces that it can do without; their functions are imported by KAL_OPTIONAL below;
 * stack_bytes: the stack it wants; 0 for the default, 8 MiB. Start code puts the arguments of main on it.
 *
 * The start code that calls main uses openkal.env: an image with a main requires KAL_IFACE_ENV, too.
 * The version it needs is that of these headers. SPEC chapter 3 has the layout. */
#define OPENKAL_IMAGE(required, optional, stack_bytes) \
    OPENKAL_IMAGE_VERSION(KAL_VERSION, required, optional, stack_bytes)

/* The same, for an image that needs another version than that of these headers. */
#define OPENKAL_IMAGE_VERSION(version, required, optional, stack_bytes)                                  \
    __attribute__((section(".note.openkal"), used, aligned(4))) static const struct kal_image_note       \
    kal_image_note = {8, 40, 1, {'o', 'p', 'e', 'n', 'k', 'a', 'l', '\0'}, 1, 0,                         \
                      {KAL_IMAGE_WORDS(version), KAL_IMAGE_WORDS(required), KAL_IMAGE_WORDS(optional),   \
                       KAL_IMAGE_WORDS(stack_bytes)}};

/* Import a function weakly: where the host lacks its interface the name is null, so ask before the call:
 *
 *     KAL_OPTIONAL(kal_net_connect)
 *     if (kal_net_connect) ...
 *
 * Use it outside any function, after the header that declares the name. `#pragma weak kal_net_connect` is the same. */
#define KAL_OPTIONAL(function) extern __typeof__(function) function __attribute__((weak));

/* 64-bit words of a note lie at multiples of 4 only, so they are kept as halves, the low one first. */
#define KAL_IMAGE_WORDS(word) (kal_u32)(word), (kal_u32)((kal_u64)(word) >> 32)

struct kal_image_note {
    kal_u32 name_size, descriptor_size, type;
    char name[8];
    kal_u32 revision, flags;
    kal_u32 version_required_optional_stack[8];
};
KAL_STATIC_ASSERT(sizeof(struct kal_image_note) == 12 + 8 + 40, "kal_image_note: size");

#endif
