"""A policy server as openpi's, with its client library's policies and messages: ``server_program.py ACTIONS CHUNK EXECUTED HEARD``.

Openpi publishes the client alone. This server answers with the next CHUNK of the ACTIONS (a file), of which EXECUTED will be carried out.
It prints its port, and writes what it was sent to HEARD, a line each. Runs where etude is not installed.
"""

import json
import sys
from pathlib import Path

import numpy as np
from openpi_client import msgpack_numpy
from openpi_client.base_policy import BasePolicy
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import serve


class Recorded(BasePolicy):
    """Gives back actions that it was given, and tells what it was asked with."""

    def __init__(self, actions, chunk, executed, heard):
        self._actions, self._chunk, self._executed, self._heard, self._next = actions, chunk, executed, heard, 0

    def infer(self, obs):
        arrays = {key: value for key, value in obs.items() if isinstance(value, np.ndarray)}
        told = {key: [value.dtype.str, list(value.shape), float(value.sum())] for key, value in arrays.items()}
        with self._heard.open("a") as file:
            file.write(json.dumps({**obs, **told}) + "\n")
        chunk = self._actions[self._next : self._next + self._chunk]
        self._next += self._executed
        return {"actions": chunk}


file, chunk, executed, heard = sys.argv[1:]
policy = Recorded(np.load(file), int(chunk), int(executed), Path(heard))


def converse(connection):
    packer = msgpack_numpy.Packer()
    connection.send(packer.pack({"model": "recorded"}))
    try:
        for message in connection:
            connection.send(packer.pack(policy.infer(msgpack_numpy.unpackb(message))))
    except ConnectionClosed:
        pass


with serve(converse, "127.0.0.1", 0, compression=None, max_size=None) as server:
    print(server.socket.getsockname()[1], flush=True)
    server.serve_forever()
