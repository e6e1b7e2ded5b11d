/* openkal.env: Arguments and environment. Made from okld/iface/surface.txt. */
#ifndef OPENKAL_ENV_H
#define OPENKAL_ENV_H

#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How many arguments there are, the program's own name among them. */
kal_uintptr kal_env_arg_count(void);

/* Copy an argument, return its length; 0 is the program's own name. */
kal_intptr kal_env_arg(kal_uintptr index, char* out, kal_uintptr cap);

/* Copy the value of a variable, return its length. */
kal_intptr kal_env_var(const char* name, kal_uintptr name_len, char* out, kal_uintptr cap);

/* How many variables there are. */
kal_uintptr kal_env_var_count(void);

/* Copy the name of the variable at a position, return its length. */
kal_intptr kal_env_var_at(kal_uintptr index, char* out, kal_uintptr cap);

#ifdef __cplusplus
}
#endif

#endif
