"""Etude in LeRobot, and LeRobot in etude.

``lerobot-eval --env.discover_packages_path=etude.integrations.lerobot --env.type=etude --env.task=SUITE/TASK@SPLIT …`` plays episodes
(:mod:`.config`, :mod:`.env`); ``etude evaluate --policy lerobot:PATH`` plays a checkpoint of LeRobot's (:mod:`.checkpoint`,
:mod:`.inference`). Nothing is imported here: LeRobot's discovery imports every module of the package, worker processes only the
environment.
"""
