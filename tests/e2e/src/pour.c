/* Writes until a write fails. */
#include "text.h"

int main(void)
{
    static const char line[4096];

    while (put(line, sizeof line) > 0) {
    }
    return 3;
}
