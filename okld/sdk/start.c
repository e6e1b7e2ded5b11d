/* The start of an image that defines main: hands it its arguments. An image that defines _start has no use for this, and
 * the linker drops it. It imports openkal.env and nothing else, and asks for nothing but the arguments: what a
 * measurement shows is the program's own calls. */

#include <openkal/env.h>

#define PAGE 4096 /* bytes of the smallest guard there is */

int main(int argc, char** argv, char** envp);
int _start(void);

/* What a call of openkal.env gave, an argument that has gone counting as empty. */
static kal_uintptr length(kal_intptr result)
{
    return result < 0 ? 0 : (kal_uintptr)result;
}

/* Call main with the program's arguments.
 * Requires: the loader's call, after the initialisers.
 * Ensures:  returns what main returns; argv ends with null, and main may write to its strings. A third parameter finds
 *           an empty list: the environment is what kal_env_var tells, and copying it would cost every start.
 *                                                                                              SPEC: SDK-3 */
__attribute__((weak, used)) int _start(void) /* used: link-time optimisation sees no caller */
{
    kal_uintptr argc = kal_env_arg_count(), size = (argc + 1) * sizeof(char*);
    char **argv, *text, *end;

    for (kal_uintptr i = 0; i < argc; i++)
        size += length(kal_env_arg(i, 0, 0)) + 1;
    argv = (char**)__builtin_alloca(size);
    text = (char*)(argv + argc + 1);
    end = (char*)argv + size;
    for (char* p = end; p - (char*)argv > PAGE; *(volatile char*)p = 0)
        p -= PAGE; /* a stack that is too small faults at its end, and not beyond the page that guards it */
    for (kal_uintptr i = 0; i < argc; i++) {
        argv[i] = text;
        text += length(kal_env_arg(i, text, (kal_uintptr)(end - text)));
        *text++ = 0;
    }
    argv[argc] = 0;
    return main((int)argc, argv, argv + argc);
}
