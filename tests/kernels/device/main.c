/* The main of the tests of device kernels. */
#include "../devicetest.h"

PetscBool    small = PETSC_FALSE;
unsigned int seed  = 12345;

int main(int argc, char **argv)
{
  PolderStream stream;
  void        *work;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, DeviceProgram.help));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-small", &small, NULL));
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderDeviceGetWork(&work));
  for (const DeviceTest *test = DeviceProgram.tests; *test; ++test) PetscCall((*test)(work, stream));
  PetscCall(PolderDeviceFinalize());
  PetscCall(PetscFinalize());
  return 0;
}
