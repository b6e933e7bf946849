"""Component arithmetic over `(elements, lanes)` arrays: vectors, rotations, symmetric matrices, tables.

Every physical scalar is one array; a vector is three of them. XLA fuses such code into a few loops, which it does
not do for library calls on 3 x 3 blocks.
"""

from jaxmbs._math.mat3 import Mat3 as Mat3, Sym3 as Sym3
from jaxmbs._math.quat import Quat as Quat
from jaxmbs._math.vec3 import Vec3 as Vec3
