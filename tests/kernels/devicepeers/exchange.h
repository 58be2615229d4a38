/* An exchange of a process with itself. Parts of devicepeers.c. */
#pragma once

#include "../devicetest.h"
#include "core/place.h"
#include "kernels/peers.h"

enum {
  NEIGH = 2, /* neighbours of an exchange, all of them the process itself */
  TIMES = 5  /* both halves of the buffers are used */
};

/* Each neighbour gets some of n values and sends them back */
typedef struct {
  const PolderPlace *place;
  PolderExchange     e;
  void              *array[16];
  int                narray;
  PolderCell        *room;
  int               *lost;
} Exchange;

/* width: values a ghost. Neighbour k gets the rows from[ptr[k]] .. of this process and they arrive at to[] */
PetscErrorCode ExchangeCreate(const PolderPlace *place, int width, const PetscInt ptr[], const PetscInt from[], const PetscInt to[], Exchange *x);
PetscErrorCode ExchangeDestroy(Exchange *x, PetscInt *wrong);
PetscErrorCode TestTriOuter(void *work, PolderStream stream);
PetscErrorCode TestGhosts(void *work, PolderStream stream);
PetscErrorCode TestStencil(void *work, PolderStream stream);
