"""Mechanisms with known answers, and helpers to build and run them."""

from tests.systems.base import AbstractSystem as AbstractSystem
from tests.systems.driven_cranks import DrivenCranks as DrivenCranks
from tests.systems.free_top import FreeTop as FreeTop
from tests.systems.pendulum import Pendulum as Pendulum
from tests.systems.run import Run as Run
from tests.systems.slider_crank import SliderCrank as SliderCrank
from tests.systems.spring_damper import SpringDamper as SpringDamper
from tests.systems.trammel import Trammel as Trammel
