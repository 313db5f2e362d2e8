/* Opens a bundle with a keyring: `./signed BUNDLE [KEYRING]` prints the status. Without KEYRING, PRECAST_KEYRING applies. */
#include <precast.h>
#include <stdio.h>

int main(int argc, char **argv) {
  precast_bundle *bundle = NULL;
  if (argc < 2) {
    return 2;
  }
  precast_status status =
      argc > 2 ? precast_bundle_open_signed(argv[1], argv[2], &bundle) : precast_bundle_open(argv[1], &bundle);
  printf("%s\n%s\n", precast_status_name(status), precast_last_error());
  precast_bundle_free(bundle);
  return (status == PRECAST_OK) == (bundle != NULL) ? 0 : 1;
}
