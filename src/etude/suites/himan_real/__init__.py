"""The tasks of RoboHiMan's real robot, in simulation: four atomic ones and four that are composed of them."""

from etude.suites.himan_real import tasks  # noqa: F401
