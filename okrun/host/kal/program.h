/* What kind of program a file is. */
#ifndef OKHOST_KAL_PROGRAM_H
#define OKHOST_KAL_PROGRAM_H

#include <stdbool.h>

/* Whether the runner starts what is open as fd: a bundle, or an ELF file that states openkal's note or, having no
 * interpreter, names functions of openkal. What the system can start does neither.
 * Never:    judges whether an image is sound.                                                     SPEC: PROC-3 */
bool program_is_image(int fd);

/* Whether another program is to run what is open as fd: it is given the path. */
bool program_is_script(int fd);

#endif
