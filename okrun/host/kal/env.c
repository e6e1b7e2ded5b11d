/* openkal.env: the arguments of the image, and the environment of the process.
 *
 * A variable is an entry NAME=VALUE with a name. What else an environment may hold (an entry without "=", one that
 * begins with it) is no variable, and is not counted. Of two with one name the first is found, as getenv() does. */
#define _GNU_SOURCE /* environ */
#include <openkal/env.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "../host.h"
#include "sys.h"

/* Where the value of an entry begins, or null where the entry is no variable. */
static const char *value_of(const char *entry)
{
    const char *equals = strchr(entry, '=');

    return equals && equals != entry ? equals + 1 : NULL;
}

kal_uintptr kal_env_arg_count(void)
{
    return (kal_uintptr)host_image.argc;
}

/* Ensures:  the length of the argument, its first cap bytes in out; -kal_err_not_found past the last. SPEC: KAL-4 */
kal_intptr kal_env_arg(kal_uintptr index, char *out, kal_uintptr cap)
{
    const char *argument;

    if (index >= (kal_uintptr)host_image.argc)
        return -kal_err_not_found;
    argument = host_image.argv[index];
    return sys_copy_out(argument, strlen(argument), out, cap);
}

/* Ensures:  the length of the value, its first cap bytes in out; -kal_err_not_found where there is no such variable,
 *           -kal_err_invalid for a null name.                       SPEC: KAL-4 */
kal_intptr kal_env_var(const char *name, kal_uintptr name_len, char *out, kal_uintptr cap)
{
    if (!name)
        return -kal_err_invalid;
    for (char **entry = environ; entry && *entry; entry++) {
        const char *value = value_of(*entry);

        if (value && (size_t)(value - *entry) - 1 == name_len && memcmp(*entry, name, name_len) == 0)
            return sys_copy_out(value, strlen(value), out, cap);
    }
    return -kal_err_not_found;
}

kal_uintptr kal_env_var_count(void)
{
    kal_uintptr count = 0;

    for (char **entry = environ; entry && *entry; entry++)
        count += value_of(*entry) != NULL;
    return count;
}

/* Ensures:  the length of the name of the variable at a position, its first cap bytes in out; -kal_err_not_found past
 *           the last.                                               SPEC: KAL-4 */
kal_intptr kal_env_var_at(kal_uintptr index, char *out, kal_uintptr cap)
{
    for (char **entry = environ; entry && *entry; entry++) {
        const char *value = value_of(*entry);

        if (value && index-- == 0)
            return sys_copy_out(*entry, (size_t)(value - *entry) - 1, out, cap);
    }
    return -kal_err_not_found;
}
