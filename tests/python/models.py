"""Components that the tests use."""
import enum
from typing import Annotated

import mica


class Mood(enum.Enum):
    CALM = 0
    ANGRY = 7


@mica.component
class Position:
    x: mica.f32
    y: mica.f32


@mica.component
class Velocity:
    x: mica.f32
    y: mica.f32


@mica.component
class Frozen:
    pass


@mica.component(storage="pool")
class Burning:
    seconds: mica.f32 = 3


@mica.component(toggle=True, track_added=True)
class Health:
    current: mica.i32 = 100
    maximum: Annotated[mica.i32, mica.Field(unit="hp", minimum=1, maximum=1000)] = 100


@mica.component
class Monster:
    home: Position
    mood: Mood
    target: mica.Entity
    path: Annotated[mica.f32, mica.Field(count=3)]
    level: mica.u8 = 2


@mica.component
class Person:
    name: str
    scores: list[mica.f32]
    friend: mica.Entity
    friends: list[mica.Entity]
    age: mica.i32 = 7


@mica.component(split=True)
class Body:
    place: Position
    mass: mica.f64


@mica.component(track_changed=True)
class Counter:
    value: mica.i64


@mica.singleton
class Clock:
    seconds: mica.f64


@mica.relation
class Likes:
    much: mica.f32


@mica.relation(exclusive=True, on_target="destroy")
class Within:
    pass


@mica.component
class Item:
    owner: mica.Entity
    price: mica.i32


@mica.component
class Place:
    x: mica.f32
    y: mica.f32
    z: mica.f32


@mica.component
class Motion:
    x: mica.f32
    y: mica.f32
    z: mica.f32
