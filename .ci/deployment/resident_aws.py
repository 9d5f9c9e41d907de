"""The AWS CLI, loaded once. Each `aws` command runs in a fork of this process, since loading takes most of its time.

    resident_aws.py SOCKET                    loads the CLI, and runs commands until it is killed
    resident_aws.py SOCKET run ARGUMENT...    has it run a command in this directory and environment, with these files
"""

import json
import os
import socket
import socketserver
import sys


class Command(socketserver.StreamRequestHandler):
    def handle(self):
        _, files, *_ = socket.recv_fds(self.request, 1, 3)
        for number, file in enumerate(files):
            os.dup2(file, number)
            os.close(file)
        command = json.load(self.rfile)
        os.environ.clear()
        os.environ |= command["environment"]
        os.chdir(command["directory"])
        try:
            status = self.server.cli.main(command["arguments"])
        except SystemExit as usage_error:
            status = usage_error.code
        sys.stdout.flush()
        sys.stderr.flush()
        self.wfile.write(bytes([status]))


class Commands(socketserver.ForkingMixIn, socketserver.UnixStreamServer):
    request_queue_size = 100


def serve(path):
    from awscli.clidriver import create_clidriver

    cli = create_clidriver()
    for service in ["cloudformation", "dynamodb", "lambda", "logs"]:
        cli.session.get_service_model(service)
    with Commands(path, Command) as server:
        server.cli = cli
        server.serve_forever()


def run(path, arguments):
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(path)
        socket.send_fds(server, [b"."], [0, 1, 2])
        command = {"arguments": arguments, "directory": os.getcwd(), "environment": dict(os.environ)}
        server.sendall(json.dumps(command).encode())
        server.shutdown(socket.SHUT_WR)
        # Nothing if the command was killed.
        return (server.recv(1) or b"\1")[0]


if __name__ == "__main__":
    sys.exit(run(sys.argv[1], sys.argv[3:]) if sys.argv[2:] else serve(sys.argv[1]))
