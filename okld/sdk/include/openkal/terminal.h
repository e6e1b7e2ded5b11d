/* openkal.terminal: The terminal behind a stream. Made from okld/iface/surface.txt. */
#ifndef OPENKAL_TERMINAL_H
#define OPENKAL_TERMINAL_H

#include "types.h"
#include "stream.h"

#define KAL_TERM_LINE_EDIT ((kal_uintptr)1<<0) /* Lines are edited before they are read. */
#define KAL_TERM_ECHO ((kal_uintptr)1<<1) /* What is typed is shown. */
#define KAL_TERM_PASS_CONTROL ((kal_uintptr)1<<2) /* Control keys are read, not acted upon. */
#define KAL_TERM_PROP_MODE ((kal_uintptr)1<<0) /* The mode can be read and set. */
#define KAL_TERM_PROP_SIZE ((kal_uintptr)1<<1) /* The size is known. */

#ifdef __cplusplus
extern "C" {
#endif

/* KAL_TERM_ bits; kal_err_not_supported for what is no terminal. */
int kal_terminal_get_mode(struct kal_stream stream, kal_uintptr* mode);

/* Set them; put back when the program ends. */
int kal_terminal_set_mode(struct kal_stream stream, kal_uintptr mode);

/* Columns and rows. */
int kal_terminal_size(struct kal_stream stream, kal_uintptr* cols, kal_uintptr* rows);

/* KAL_TERM_PROP_ bits. */
kal_uintptr kal_terminal_props(struct kal_stream stream);

#ifdef __cplusplus
}
#endif

#endif
