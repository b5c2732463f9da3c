#!/bin/sh
# Stands in for cert-manager: writes a new self-signed certificate into the source Secret.
#   sh new-certificate.sh SERIAL DAYS
set -eu
folder=$(mktemp -d)
openssl req -x509 -newkey rsa:2048 -nodes -subj '/CN=*.apps.example.com' -set_serial "$1" -days "$2" \
  -keyout "$folder/tls.key" -out "$folder/tls.crt" 2>/dev/null
kubectl create secret tls wildcard-tls -n reeve-shared --cert="$folder/tls.crt" --key="$folder/tls.key" \
  --dry-run=client -o yaml | kubectl apply --server-side -f -
rm -r "$folder"
