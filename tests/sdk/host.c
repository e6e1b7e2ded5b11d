/* A host for the start code alone: openkal.env whose arguments are this program's. */

#include <stdio.h>
#include <string.h>

#include <openkal/env.h>

int image_start(void);

static char **arguments;
static kal_uintptr argument_count;

static kal_intptr give(const char* value, size_t size, char* out, kal_uintptr cap)
{
    memcpy(out ? out : (char[1]){0}, value, size < cap ? size : cap);
    return (kal_intptr)size;
}

kal_uintptr kal_env_arg_count(void)
{
    return argument_count;
}

kal_intptr kal_env_arg(kal_uintptr index, char* out, kal_uintptr cap)
{
    return give(arguments[index], strlen(arguments[index]), out, cap);
}

int main(int argc, char** argv)
{
    argument_count = (kal_uintptr)argc - 1;
    arguments = argv + 1;
    printf("returned %d\n", image_start());
    return 0;
}
