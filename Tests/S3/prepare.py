#!/usr/bin/env python3
"""Waits for a server, makes the bucket `heartwood` there and, if it is moto and is to be
checking, a key whose signatures it checks from then on. Prints the key.

Usage: prepare.py plain|checking URL
"""
import os
import sys
import time
import urllib.request

import boto3
from botocore.config import Config

CONFIG = Config(retries={"max_attempts": 1}, s3={"addressing_style": "path"})
POLICY = '{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}'


def wait(action):
    """Tries again for a minute: a server takes its time to start."""
    for attempt in range(240):
        try:
            return action()
        except Exception:
            if attempt == 239:
                raise
            time.sleep(0.25)


def client(service, url, key=None, secret=None):
    return boto3.client(
        service, endpoint_url=url, region_name="us-east-1", config=CONFIG, aws_access_key_id=key or os.environ.get("AWS_ACCESS_KEY_ID", "start"),
        aws_secret_access_key=secret or os.environ.get("AWS_SECRET_ACCESS_KEY", "start"))


def main():
    kind, url = sys.argv[1:]
    wait(lambda: client("s3", url).create_bucket(Bucket="heartwood"))
    if kind != "checking":
        return
    iam = client("iam", url)
    iam.create_user(UserName="tester")
    iam.put_user_policy(UserName="tester", PolicyName="all", PolicyDocument=POLICY)
    key = iam.create_access_key(UserName="tester")["AccessKey"]
    # From here on moto checks who asks.
    request = urllib.request.Request(f"{url}/moto-api/reset-auth", data=b"0", headers={"Content-Type": "text/plain"}, method="POST")
    urllib.request.urlopen(request, timeout=10).read()
    print(f"AWS_ACCESS_KEY_ID={key['AccessKeyId']}\nAWS_SECRET_ACCESS_KEY={key['SecretAccessKey']}")


main()
