/* Ends with the status that it was built with. */
#include <openkal/openkal.h>

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    return STATUS;
}
