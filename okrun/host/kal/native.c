/* The implementation that okhost is built with, which is this directory. */
#include <string.h>

#include "../host.h"
#include "../implementation.h"
#include "terminal.h"

void implementation_load(int *argc, char ***argv)
{
    const char *word = *argc > 1 ? (*argv)[1] : "";

    if (*argc == 2 && strcmp(word, TERMINAL_GUARD) == 0)
        terminal_guard();
    if (strcmp(word, "--impl") == 0)
        host_die(HOST_INTERNAL, "okhost binds no library: the host program for --impl is okhost-impl [IMPL-7]");
}

/* It looks at host_image itself, when it is asked. */
void implementation_begin(void)
{
}

bool implementation_has_code(uint64_t address)
{
    (void)address;
    return false;
}
