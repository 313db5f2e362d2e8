"""A worker for BuildGrid. It runs one action at a time in a directory with the inputs, and stores the output files.

usage: worker.py PORT NAME TOOLCHAIN...
Prints a line for each action.
"""
import os, shutil, subprocess, sys, tempfile, time
import grpc
from buildgrid._protos.build.bazel.remote.execution.v2 import remote_execution_pb2 as re, remote_execution_pb2_grpc as services
from buildgrid._protos.google.devtools.remoteworkers.v1test2 import bots_pb2 as bots, bots_pb2_grpc
from buildgrid._protos.google.rpc import code_pb2
from hashlib import sha256

port, name, *toolchains = sys.argv[1:]
channel = grpc.insecure_channel("127.0.0.1:" + port)
cas = services.ContentAddressableStorageStub(channel)


def read(digests):
    found = {}
    digests = {(digest.hash, digest.size_bytes) for digest in digests}
    if not digests:
        return found
    wanted = [re.Digest(hash=hash, size_bytes=size) for hash, size in digests]
    for blob in cas.BatchReadBlobs(re.BatchReadBlobsRequest(instance_name="main", digests=wanted)).responses:
        assert blob.status.code == 0, blob.status
        found[blob.digest.hash] = blob.data
    return found


def message(kind, digest):
    return kind.FromString(read([digest])[digest.hash])


def put(data):
    digest = re.Digest(hash=sha256(data).hexdigest(), size_bytes=len(data))
    blob = re.BatchUpdateBlobsRequest.Request(digest=digest, data=data)
    answer = cas.BatchUpdateBlobs(re.BatchUpdateBlobsRequest(instance_name="main", requests=[blob]))
    assert answer.responses[0].status.code == 0
    return digest


def unpack(digest, to):
    os.makedirs(to, exist_ok=True)
    directory = message(re.Directory, digest)
    contents = read([file.digest for file in directory.files])
    for file in directory.files:
        with open(os.path.join(to, file.name), "wb") as out:
            out.write(contents[file.digest.hash])
    for below in directory.directories:
        key = below.digest.hash
        # Cache directories that many actions share, as real workers do.
        kept = os.path.join(keep, key)
        if not os.path.isdir(kept):
            unpack(below.digest, kept + ".new")
            os.rename(kept + ".new", kept)
        shutil.copytree(kept, os.path.join(to, below.name))


def execute(action):
    command = message(re.Command, action.command_digest)
    with tempfile.TemporaryDirectory(dir=keep) as root:
        unpack(action.input_root_digest, root)
        environment = {one.name: one.value for one in command.environment_variables}
        program = shutil.which(command.arguments[0], path=environment.get("PATH"))
        arguments = [program, *command.arguments[1:]]
        ended = subprocess.run(arguments, cwd=root, env=environment, capture_output=True)
        result = re.ActionResult(exit_code=ended.returncode)
        result.stdout_raw = ended.stdout if len(ended.stdout) < 1000 else b""
        if not result.stdout_raw and ended.stdout:
            result.stdout_digest.CopyFrom(put(ended.stdout))
        result.stderr_raw = ended.stderr
        result.execution_metadata.worker = name
        for path in command.output_paths:
            if os.path.exists(os.path.join(root, path)):
                with open(os.path.join(root, path), "rb") as out:
                    result.output_files.add(path=path, digest=put(out.read()))
        return result


keep = tempfile.mkdtemp(prefix="worker-")
stub = bots_pb2_grpc.BotsStub(channel)
session = bots.BotSession(bot_id=name, status=bots.BotStatus.OK)
device = session.worker.devices.add(handle=name)
for toolchain in toolchains:
    device.properties.add(key="precast-toolchain", value=toolchain)
session = stub.CreateBotSession(bots.CreateBotSessionRequest(parent="main", bot_session=session), timeout=30)
while True:
    for lease in session.leases:
        if lease.state in (bots.LeaseState.PENDING, bots.LeaseState.ACTIVE):
            action = re.Action()
            assert lease.payload.Unpack(action), lease.payload.type_url
            lease.result.Pack(execute(action))
            lease.status.code = code_pb2.OK
            lease.state = bots.LeaseState.COMPLETED
            print("done", flush=True)
    try:
        request = bots.UpdateBotSessionRequest(name=session.name, bot_session=session)
        session = stub.UpdateBotSession(request, timeout=10)
    except grpc.RpcError as error:
        if error.code() not in (grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.UNAVAILABLE):
            raise
        time.sleep(0.1)
